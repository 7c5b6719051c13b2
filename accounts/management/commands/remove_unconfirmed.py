"""`manage.py remove_unconfirmed`: removes users who never confirmed their e-mail address."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.services.confirmations import UNCONFIRMED_RETENTION, list_unconfirmed, remove_unconfirmed
from social.kernel import clock


class Command(BaseCommand):
    """Remove unconfirmed users earlier than the scheduler, which every hour removes users unconfirmed for seven days."""

    help = "Remove people who signed up and never confirmed their e-mail address; their names are free again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=UNCONFIRMED_RETENTION.days,
            help=f"who signed up longer ago than this ({UNCONFIRMED_RETENTION.days} by default)",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say who would be removed")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["days"] <= 36500:
            raise CommandError(_("--days takes a number from 0 to 36500."))
        kept = timedelta(days=options["days"])
        if options["dry_run"]:
            for address in list_unconfirmed(before=clock.now() - kept).iterator():
                self.stdout.write(f"@{address.user.account.username} {address.user.created_at.date()}")
            return
        count = remove_unconfirmed(kept=kept)
        self.stdout.write(_("%(count)d removed.") % {"count": count})
