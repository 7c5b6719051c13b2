"""`manage.py remove_statuses`: removes old remote posts with which no local account has interacted."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from statuses.services.removing import remove_remote_statuses

_DAYS = 90
_REPORTED = 20


class Command(BaseCommand):
    """Remove posts; can be interrupted and repeated at any time."""

    help = "Remove old posts of other servers that nobody here has answered, boosted, liked, kept or is mentioned in."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=_DAYS, help=f"posts that are older than so many days ({_DAYS})")
        parser.add_argument("--of-followed", action="store_true", help="also posts of people who are followed here")
        parser.add_argument("--dry-run", action="store_true", help="count, and remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= 36500:
            raise CommandError(_("--days wants a whole number above 0."))
        removed = 0
        steps = remove_remote_statuses(
            by=OPERATOR,
            older_than=timedelta(days=options["days"]),
            of_followed=options["of_followed"],
            dry_run=options["dry_run"],
        )
        for number, progress in enumerate(steps, start=1):
            removed = progress.removed
            if not number % _REPORTED:
                self.stdout.write(f"{progress.looked_at} looked at, {removed} removed")
        self.stdout.write(f"{removed} would be removed" if options["dry_run"] else f"{removed} removed")
