"""`manage.py remove_preview_cards`: frees space by removing old pictures of previews."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from social.management.base import OperatorCommand
from statuses.services.cards import count_old_pictures, remove_old_pictures


class Command(OperatorCommand):
    """Remove old pictures of previews; the previews are kept without pictures, and a page is fetched again when a post
    links to it.
    """

    help = "Remove the pictures of preview cards that were fetched long ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=180, help="how old a picture must be (180)")
        parser.add_argument("--dry-run", action="store_true", help="only say how many there are")

    def handle(self, *args: Any, **options: Any) -> None:
        # Pages are fetched again after fourteen days, so younger pictures may still be in use.
        if options["days"] < 14:
            raise CommandError(_("Pictures younger than 14 days are not removed."))
        age = timedelta(days=options["days"])
        count, size = count_old_pictures(age)
        summary = ngettext("%(count)d picture", "%(count)d pictures", count) % {"count": count}
        if count and not options["dry_run"]:
            done = 0
            for removed in remove_old_pictures(age):
                done += removed
                self.stdout.write(f"{done}/{max(count, done)}")
        self.stdout.write(f"{summary}, {filesizeformat(size)}" if count else summary)
