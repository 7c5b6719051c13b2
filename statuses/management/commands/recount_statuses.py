"""`manage.py recount_statuses`: recalculates stored counters of posts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from statuses.services.recounting import Progress, recount_statuses

_REPORTED = 20


class Command(BaseCommand):
    """Recount counters; can be interrupted and repeated at any time, also while the server runs."""

    help = (
        "Count the answers, boosts, favourites and quotes of all posts anew, the posts of all accounts, the votes in polls "
        "and the use of featured hashtags, and correct what is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what would be corrected, and correct nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        done = "wrong" if options["dry_run"] else "corrected"
        last: Progress | None = None
        for number, progress in enumerate(recount_statuses(dry_run=options["dry_run"]), start=1):
            if last is not None and last.kind != progress.kind:
                self._say(last, done)
            for wrong in progress.found if options["dry_run"] else ():
                self.stdout.write(f"{progress.kind}: {wrong}")
            if not number % _REPORTED:
                self._say(progress, "wrong so far")
            last = progress
        if last is not None:
            self._say(last, done)

    def _say(self, progress: Progress, what: str) -> None:
        self.stdout.write(f"{progress.kind}: {progress.counted} counted, {progress.wrong} {what}")
