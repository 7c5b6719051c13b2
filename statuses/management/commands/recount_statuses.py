"""`manage.py recount_statuses`: counts answers, boosts, favourites and quotes of all posts anew."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from statuses.services.recounting import recount_statuses

_REPORTED = 20


class Command(BaseCommand):
    """It can be ended at any time and run again, also while the server runs."""

    help = "Count the answers, boosts, favourites and quotes of all posts anew and correct what is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, and correct nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        counted = wrong = 0
        for number, progress in enumerate(recount_statuses(dry_run=options["dry_run"]), start=1):
            counted, wrong = progress.counted, progress.wrong
            if not number % _REPORTED:
                self.stdout.write(f"{counted} counted, {wrong} wrong")
        self.stdout.write(
            f"{counted} counted, {wrong} wrong" if options["dry_run"] else f"{counted} counted, {wrong} corrected"
        )
