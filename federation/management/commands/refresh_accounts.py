"""`manage.py refresh_accounts`: fetches remote accounts again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.policies.staff import OPERATOR
from federation.management.selection import Selection
from federation.remote.refreshing import Finding, refresh_accounts


class Command(BaseCommand):
    """Fetches accounts one after the other; when the run is interrupted, the accounts already fetched remain updated."""

    help = "Fetch accounts of other servers again: names, pictures, keys, inboxes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        Selection.add_arguments(parser, days=0)
        parser.add_argument("--dry-run", action="store_true", help="only say who would be asked for")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Selection.of(options)
        if options["dry_run"]:
            for account in chosen.accounts:
                self.stdout.write(f"@{account.acct}")
            return
        counts = dict.fromkeys(Finding, 0)
        for number, (account, found) in enumerate(
            refresh_accounts(by=OPERATOR, accounts=chosen.accounts, about=chosen.about), start=1
        ):
            counts[found] += 1
            self.stdout.write(f"{number}/{chosen.count} @{account.acct} {found}")
        self.stdout.write(", ".join(f"{found} {count}" for found, count in counts.items() if count) or "nobody")
