"""`manage.py block_sign_ups`: adds, removes and lists blocks of sign-ups."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.management.block_files import read_in, write_out
from accounts.models import CanonicalEmailBlock, EmailDomainBlock, IpBlock, Severity, UsernameBlock
from accounts.policies.sign_up import doubt_about_network, email_digest, network_of, normalised_username
from accounts.policies.staff import OPERATOR
from accounts.services import sign_up_blocks
from accounts.services.block_files import BlockFile
from accounts.services.sign_up_blocks import SignUpBlock
from accounts.services.sign_up_files import EmailDomainFile, NetworkFile
from social.kernel import clock
from social.kernel.text.names import normalise_domain
from social.management.base import OperatorCommand, add_yes


def _network(value: str) -> str:
    try:
        return str(network_of(value))
    except ValueError:
        return value


_FIND: dict[str, Callable[[str], SignUpBlock | None]] = {
    "email_domain": lambda value: EmailDomainBlock.objects.filter(domain=normalise_domain(value) or "").first(),
    "email": lambda value: CanonicalEmailBlock.objects.filter(digest=email_digest(value)).first(),
    "network": lambda value: IpBlock.objects.filter(network=_network(value)).first(),
    "username": lambda value: UsernameBlock.objects.filter(normalised=normalised_username(value)).first(),
}

_FILES: dict[str, type[BlockFile[Any]]] = {"email_domain": EmailDomainFile, "network": NetworkFile}


class Command(OperatorCommand):
    """Change blocks with effect at once; `no_access` takes effect within seconds in every process."""

    help = (
        "Block e-mail domains, e-mail addresses, networks or usernames from signing up; without a kind, list them. E-mail "
        "domains and networks are read and written as CSV files too, or as lists with one in each line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", nargs="?", choices=list(_FIND), help="what is blocked")
        parser.add_argument("value", nargs="?", help="example.com, somebody@example.com, 192.0.2.0/24, or a name")
        parser.add_argument("--remove", action="store_true", help="take the block back")
        parser.add_argument("--allow-with-approval", action="store_true", help="ask staff instead of refusing")
        parser.add_argument("--contains", action="store_true", help="every name that contains this one")
        parser.add_argument("--severity", choices=Severity.values, default=Severity.SIGN_UP_BLOCK, help="of a network")
        parser.add_argument("--hours", type=int, help="how long a network stays blocked; for ever by default")
        parser.add_argument("--comment", default="", help="why a network is blocked")
        files = parser.add_mutually_exclusive_group()
        files.add_argument("--import", dest="file", help="block what a file names, or - for what comes in")
        files.add_argument(
            "--export", action="store_true", help="print the blocks of email_domain or network as a file"
        )
        parser.add_argument(
            "--replace", action="store_true", help="change networks to what the file says, also to milder"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--output", type=Path, help="a new file to export to")
        add_yes(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["kind"] is None:
            self._list()
        elif options["file"] or options["export"]:
            self._use_file(options)
        elif options["value"] is None:
            raise CommandError(_("Say what shall be blocked."))
        elif options["remove"]:
            block = _FIND[options["kind"]](options["value"])
            if block is None:
                raise CommandError(_("There is no such block."))
            if options["dry_run"]:
                self.stdout.write(f"{type(block).__name__} {block}")
            else:
                sign_up_blocks.remove_block(by=OPERATOR, block=block)
        else:
            if options["kind"] == "network":
                self.ask(doubt_about_network(options["value"]), options)
            try:
                # In a transaction, so that a dry run is refused for the same reasons.
                with transaction.atomic():
                    self._add(**options)
                    if options["dry_run"]:
                        self.stdout.write(f"{options['kind']} {_FIND[options['kind']](options['value'])}")
                        transaction.set_rollback(True)
            except OverflowError:
                raise CommandError(_("That is longer than a calendar goes.")) from None

    def _use_file(self, options: dict[str, Any]) -> None:
        kind = _FILES.get(options["kind"])
        if kind is None:
            raise CommandError(_("Files are for e-mail domains and networks."))
        if options["export"]:
            write_out(self, kind(), options["output"])
        else:
            read_in(self, kind(), options["file"], options)

    def _list(self) -> None:
        for model in (EmailDomainBlock, CanonicalEmailBlock, IpBlock, UsernameBlock):
            for block in model.objects.order_by("pk").iterator():
                self.stdout.write(f"{model.__name__} {block}")

    def _add(
        self, *, kind: str, value: str, allow_with_approval: bool, contains: bool, severity: str, hours: int | None,
        comment: str, **_others: Any,
    ) -> None:  # fmt: skip
        if kind == "email_domain":
            sign_up_blocks.block_email_domain(by=OPERATOR, domain=value, allow_with_approval=allow_with_approval)
        elif kind == "email":
            sign_up_blocks.block_canonical_email(by=OPERATOR, email=value)
        elif kind == "network":
            sign_up_blocks.block_network(
                by=OPERATOR,
                network=value,
                severity=Severity(severity),
                comment=comment,
                expires_at=clock.now() + timedelta(hours=hours) if hours is not None else None,
            )
        else:
            sign_up_blocks.block_username(
                by=OPERATOR, username=value, exact=not contains, allow_with_approval=allow_with_approval
            )
