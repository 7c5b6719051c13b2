"""`manage.py follow_account`: makes local accounts follow an account."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from allauth.account.models import EmailAddress
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from accounts.management.names import find_users_named
from accounts.models import Account, User
from accounts.policies.audience import is_present
from accounts.policies.staff import OPERATOR
from accounts.services.remote_accounts import find_or_resolve
from accounts.services.staff import follow_on_behalf
from social.kernel.errors import KernelError, NotFound


class Command(BaseCommand):
    """Make local accounts follow an account; accounts that block it or are blocked by it are skipped."""

    help = "Have people of this server follow an account, of this server or of another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="whom: ada, or ada@there.example")
        parser.add_argument("--by", nargs="+", metavar="USERNAME", help="who shall follow")
        parser.add_argument("--all", action="store_true", help="everybody who can use their account")
        parser.add_argument("--dry-run", action="store_true", help="only say who would follow")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["by"]) is options["all"]:
            raise CommandError(_("Say who shall follow: --by with names, or --all."))
        try:
            target = find_or_resolve(options["address"])
        except NotFound:
            raise CommandError(
                _("There is no account %(address)s, here or where it says.") % {"address": options["address"]}
            ) from None
        users: Iterable[User]
        if options["all"]:
            everybody = _usable().exclude(account=target)
            users, count = everybody.iterator(), everybody.count()
        else:
            users = find_users_named(options["by"])
            count = len(users)
        self._follow(target, users, count, dry_run=options["dry_run"])

    def _follow(self, target: Account, users: Iterable[User], count: int, *, dry_run: bool) -> None:
        refused = 0
        for number, user in enumerate(users, start=1):
            note = ""
            if not dry_run:
                try:
                    follow_on_behalf(by=OPERATOR, user=user, target=target)
                except KernelError as error:
                    refused += 1
                    note = f": {error.message}"
            self.stdout.write(f"{number}/{count} @{user.account.username}{note}")
        if refused and refused == count:
            raise CommandError(_("Nobody could follow @%(acct)s.") % {"acct": target.acct})


def _usable() -> Any:
    confirmed = EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True)
    users = User.objects.select_related("account", "role").filter(Exists(confirmed), approved=True, disabled_at=None)
    return users.filter(is_present("account"), account__moved_to=None).order_by("pk")
