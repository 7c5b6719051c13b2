from typing import Any

from allauth.account.models import EmailAddress
from django.core.management.base import CommandError
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from accounts.identity.services.staff import follow_on_behalf
from accounts.management.names import LocalUsers, for_each, named_or_all
from accounts.models import User
from accounts.policies.audience import is_present
from accounts.policies.staff import OPERATOR
from accounts.services.remote_accounts import find_or_resolve
from social.kernel.errors import KernelError, NotFound
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Make local accounts follow an account of this or another server; accounts that block it, or that it blocks, are
    skipped.

    address: the account to follow: ada, or ada@there.example
    by: the accounts that follow it
    all: every local account that can be used follows it
    """

    def run(self, address: str, *, by: LocalUsers = (), all: bool, dry_run: bool) -> None:
        try:
            target = find_or_resolve(address)
        except NotFound:
            raise CommandError(
                _("There is no account %(address)s, neither here nor on its server.") % {"address": address}
            ) from None
        everybody = _usable_accounts().exclude(account=target) if all else None
        users, count = named_or_all(by, everybody, _("Say which accounts should follow it: --by with names, or --all."))
        refused = 0

        def follow(user: User) -> str:
            nonlocal refused
            try:
                follow_on_behalf(by=OPERATOR, user=user, target=target)
            except KernelError as error:
                refused += 1
                return f": {error.message}"
            return ""

        for_each(self, users, count, follow, dry_run=dry_run)
        if refused and refused == count:
            raise CommandError(_("Nobody could follow @%(acct)s.") % {"acct": target.acct})


def _usable_accounts() -> Any:
    confirmed = EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True)
    users = User.objects.select_related("account", "role").filter(Exists(confirmed), approved=True, disabled_at=None)
    return users.filter(is_present("account"), account__moved_to=None).order_by("pk")
