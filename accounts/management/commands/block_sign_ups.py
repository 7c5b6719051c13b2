from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.identity.policies.sign_up import blockable_email_domain, email_digest, normalised_username
from accounts.identity.services import sign_up_blocks
from accounts.identity.services.sign_up_blocks import SignUpBlock
from accounts.identity.services.sign_up_files import EmailDomainFile, NetworkFile
from accounts.management.block_files import export_lists, import_lists
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock, Severity, UsernameBlock
from accounts.policies.networks import network_of, warning_about_network
from accounts.policies.staff import OPERATOR
from accounts.services.block_files import BlockFile
from social.kernel import clock
from social.management.base import OperatorCommand, undone_if, would


def _network(value: str) -> str:
    try:
        return str(network_of(value))
    except ValueError:
        return value


_FIND: dict[str, Callable[[str], SignUpBlock | None]] = {
    "email_domain": lambda value: EmailDomainBlock.objects.filter(domain=blockable_email_domain(value) or "").first(),
    "email": lambda value: CanonicalEmailBlock.objects.filter(digest=email_digest(value)).first(),
    "network": lambda value: IpBlock.objects.filter(network=_network(value)).first(),
    "username": lambda value: UsernameBlock.objects.filter(normalised=normalised_username(value)).first(),
}
_FILES: dict[str, type[BlockFile[Any]]] = {"email_domain": EmailDomainFile, "network": NetworkFile}


class Command(OperatorCommand):
    """Block e-mail domains, e-mail addresses, networks or usernames from signing up; without a kind, list the blocks.
    E-mail domains and networks can also be imported and exported as files: CSV, or one entry per line.

    kind: the kind of value to block
    value: example.com, somebody@example.com, 192.0.2.0/24 or a username
    remove: remove the block
    allow_with_approval: let such people sign up, but only with approval by staff
    contains: block every username that contains this one
    severity: the effect of blocking a network
    hours: the duration of the block of a network; for ever by default
    comment: the reason for blocking a network
    file: block what this file lists; - reads standard input
    export: print the blocks of email_domain or network as a file
    replace: change blocked networks to what the file says, even if that is less strict
    output: export to this new file
    """

    exclusive = ("file", "export")

    def run(
        self, kind: Literal["email_domain", "email", "network", "username"] | None = None, value: str | None = None, *,
        remove: bool, allow_with_approval: bool, contains: bool, severity: Severity = Severity.SIGN_UP_BLOCK,
        hours: int | None = None, comment: str = "", file: Annotated[str | None, ("flag", "--import")] = None, export: bool,
        replace: bool, output: Path | None = None, yes: bool, dry_run: bool,
    ) -> None:  # fmt: skip
        if kind is None:
            self._list()
        elif file or export:
            if kind not in _FILES:
                raise CommandError(_("Files are for e-mail domains and networks."))
            if file:
                import_lists(self, _FILES[kind](), file, replace=replace, yes=yes, dry_run=dry_run)
            else:
                export_lists(self, _FILES[kind](), output)
        elif value is None:
            raise CommandError(_("Say what to block."))
        elif remove:
            if (block := _FIND[kind](value)) is None:
                raise CommandError(_("There is no such block."))
            with undone_if(dry_run):
                sign_up_blocks.remove_block(by=OPERATOR, block=block)
            self.stdout.write(f"{type(block).__name__} {block}: {would(dry_run)}removed.")
        else:
            if kind == "network":
                self.confirm(warning_about_network(value), yes=yes, dry_run=dry_run)
            try:
                until = clock.now() + timedelta(hours=hours) if hours is not None else None
            except OverflowError:
                raise CommandError(_("That is too far in the future.")) from None
            with undone_if(dry_run):
                if kind == "email_domain":
                    sign_up_blocks.block_email_domain(
                        by=OPERATOR, domain=value, allow_with_approval=allow_with_approval
                    )
                elif kind == "email":
                    sign_up_blocks.block_canonical_email(by=OPERATOR, email=value)
                elif kind == "network":
                    sign_up_blocks.block_network(
                        by=OPERATOR, network=value, severity=severity, comment=comment, expires_at=until
                    )
                else:
                    sign_up_blocks.block_username(
                        by=OPERATOR, username=value, exact=not contains, allow_with_approval=allow_with_approval
                    )
                self.stdout.write(f"{kind} {_FIND[kind](value)}: {would(dry_run)}blocked.")

    def _list(self) -> None:
        empty = True
        for model in (EmailDomainBlock, CanonicalEmailBlock, IpBlock, UsernameBlock):
            for block in model.objects.order_by("pk").iterator():
                empty = False
                self.stdout.write(f"{model.__name__} {block}")
        if empty:
            self.stdout.write("There are no blocks.")
