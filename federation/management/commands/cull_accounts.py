"""`manage.py cull_accounts`: removes accounts that no longer exist on their servers."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.policies.staff import OPERATOR
from federation.management.selection import Selection
from federation.remote.refreshing import ACTIVITY_PERIOD, Finding, cull_accounts


class Command(BaseCommand):
    """Checks a limited number of accounts per run, beginning with those not checked for longest, so that the next run continues
    where this run ended.
    """

    help = "Ask other servers whether accounts are still there, and delete those that are gone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        Selection.add_arguments(parser, days=ACTIVITY_PERIOD.days)
        parser.add_argument("--dry-run", action="store_true", help="ask, and delete nobody")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Selection.of(options)
        counts = dict.fromkeys(Finding, 0)
        asked = cull_accounts(by=OPERATOR, accounts=chosen.accounts, about=chosen.about, dry_run=options["dry_run"])
        for number, (account, found) in enumerate(asked, start=1):
            counts[found] += 1
            if found is Finding.GONE or not number % 100:
                self.stdout.write(f"{number}/{chosen.count} @{account.acct} {found}")
        self.stdout.write(", ".join(f"{found} {count}" for found, count in counts.items() if count) or "nobody")
