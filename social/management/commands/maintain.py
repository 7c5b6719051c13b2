from collections.abc import Sequence
from typing import Annotated, Final

from django.apps import apps
from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from accounts.policies.staff import OPERATOR
from social.kernel import outbox
from social.kernel.runner import WaitingRow
from social.management.base import OperatorCommand, would
from social.management.progress import progress_bar, steps
from social.settings.env import manage_command
from statuses.services.media_upkeep import prune_media
from statuses.services.recounting import recount_statuses

_PARTS: Final = ("counts", "files", "rows")


class Command(OperatorCommand):
    """Find and correct inconsistencies: wrong counters (counts), stored files that nothing refers to and rows whose file is
    gone (files), and failed work that is no longer retried (rows; only listed, with the commands that retry or discard it).
    The server may run meanwhile, and the command can be interrupted and run again.

    parts: only counts, files or rows
    """

    def run(self, parts: Annotated[Sequence[str], ("metavar", "PART")] = (), *, dry_run: bool) -> None:
        if unknown := [part for part in parts if part not in _PARTS]:
            raise CommandError(f"There is no part {', '.join(unknown)}. Parts are {', '.join(_PARTS)}.")
        for part in parts or _PARTS:
            getattr(self, f"_{part}")(dry_run)

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
        with progress_bar("Files", None) as advance:
            count = steps(advance)
            pruned = prune_media(by=OPERATOR, dry_run=dry_run, progress=lambda files, _size: count(files))
        self.stdout.write(
            f"files: {pruned.files} that nothing names ({filesizeformat(pruned.bytes)}) and {pruned.copies} rows of lost copies"
            f" {would(dry_run)}removed; {len(pruned.lost)} attachments whose file is lost"
        )

    def _rows(self, _dry_run: bool) -> None:
        dead = sum(figures.dead for figures in outbox.measure())
        self.stdout.write(f"rows: {dead} of the outbox were given up ({manage_command('show_outbox --dead')})")
        for model in apps.get_models():
            if issubclass(model, WaitingRow) and (count := model.objects.filter(dead_at__isnull=False).count()):
                self.stdout.write(f"rows: {count} {model._meta.verbose_name_plural} were given up")
