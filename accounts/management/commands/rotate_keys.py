"""`manage.py rotate_keys`: replaces the signing keys of local accounts."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.management.names import find_accounts_named
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.key_pairs import rotate_keys
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Replace keys after a copy of the database or of its secrets has leaked."""

    help = "Give accounts of this server new signing keys; followers' servers get them, and nothing on its way is lost."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="ada")
        parser.add_argument(
            "--all", action="store_true", help="every account of this server that has keys, its own too"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say whose keys would be replaced")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["addresses"]) is options["all"]:
            raise CommandError(_("Name accounts, or say --all."))
        if options["all"]:
            rows = Account.objects.filter(domain=None, deleted_at=None, key_pair__isnull=False).order_by("id")
            count, accounts = rows.count(), rows.iterator()
        else:
            named = find_accounts_named(options["addresses"])
            count, accounts = len(named), iter(named)
        self._rotate(accounts, count, dry_run=options["dry_run"])

    def _rotate(self, accounts: Iterable[Account], count: int, *, dry_run: bool) -> None:
        for number, account in enumerate(accounts, start=1):
            note = ""
            if not dry_run:
                try:
                    rotated = rotate_keys(by=OPERATOR, account=account)
                except KernelError as error:
                    raise CommandError(f"@{account.acct}: {error.message}") from None
                note = "" if rotated else _(" (has no keys yet: nothing was done)")
            self.stdout.write(f"{number}/{count} @{account.acct}{note}")
