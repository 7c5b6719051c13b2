"""`manage.py maintain`: finds wrong counters, unused and lost files and failed rows, and corrects the counters and files."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, Final

from django.apps import apps
from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from accounts.policies.staff import OPERATOR
from social.kernel import outbox
from social.kernel.runner import WaitingRow
from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from social.settings.env import manage_command
from statuses.services.media_upkeep import prune_media
from statuses.services.recounting import recount_statuses

_PARTS: Final = ("counts", "files", "rows")


class Command(OperatorCommand):
    """Command that can run while the server runs, and can be interrupted and run again."""

    help = (
        "Look for what no longer fits together, and mend it: counters that are wrong (counts), stored files that nothing names "
        "and rows whose file is gone (files), and work that was given up (rows, which are only shown: other commands decide)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("parts", nargs="*", metavar="PART", help=f"only {', '.join(_PARTS)}")
        parser.add_argument("--dry-run", action="store_true", help="say what would be mended, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := [part for part in options["parts"] if part not in _PARTS]:
            raise CommandError(f"There is no part {', '.join(unknown)}. Parts are {', '.join(_PARTS)}.")
        parts: dict[str, Callable[[bool], None]] = {"counts": self._counts, "files": self._files, "rows": self._rows}
        for part in options["parts"] or _PARTS:
            parts[part](options["dry_run"])

    def _counts(self, dry_run: bool) -> None:
        found: dict[str, tuple[int, int]] = {}
        with progress_bar("Counting", None) as advance:
            for progress in recount_statuses(dry_run=dry_run):
                before = found.get(progress.kind, (0, 0))[0]
                advance(max(progress.counted - before, 0))
                found[progress.kind] = (progress.counted, progress.wrong)
        for kind, (counted, wrong) in found.items():
            self.stdout.write(f"{kind}: {counted} counted, {wrong} {'wrong' if dry_run else 'corrected'}")

    def _files(self, dry_run: bool) -> None:
        removed = 0
        with progress_bar("Files", None) as advance:

            def moved(files: int, _size: int) -> None:
                nonlocal removed
                advance(files - removed)
                removed = files

            pruned = prune_media(by=OPERATOR, dry_run=dry_run, progress=moved)
        verb = "would be removed" if dry_run else "removed"
        self.stdout.write(
            f"files: {pruned.files} that nothing names ({filesizeformat(pruned.bytes)}) and {pruned.copies} rows of lost copies"
            f" {verb}; {len(pruned.lost)} attachments whose file is lost"
        )

    def _rows(self, _dry_run: bool) -> None:
        dead = sum(figures.dead for figures in outbox.measure())
        self.stdout.write(f"rows: {dead} of the outbox were given up ({manage_command('show_outbox --dead')})")
        for model in apps.get_models():
            if issubclass(model, WaitingRow) and (count := model.objects.filter(dead_at__isnull=False).count()):
                self.stdout.write(f"rows: {count} {model._meta.verbose_name_plural} were given up")
