"""`manage.py media`: shows the size of the media storage, and frees space in it."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import Count, Q
from django.utils.translation import gettext as _

from accounts.models import RemoteCopy
from accounts.models.remote import CopyState
from accounts.policies.staff import OPERATOR
from accounts.queries.remote_copies import count_bytes, sum_up
from social.kernel import clock
from social.management.base import OperatorCommand
from statuses.queries.media import sum_up_attachments
from statuses.services.media_upkeep import forget_failures, measure_storage, prune_media, remove_old_copies

_DAYS_LIMIT = 36_500


class Command(OperatorCommand):
    """Run one maintenance step for media files. An interrupted run can simply be repeated."""

    help = (
        "Show what the media storage holds, remove old copies of files of other servers, or what belongs to nobody, and have "
        "files of other servers be asked for again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        usage = kinds.add_parser("usage", help="how much room is taken by what")
        usage.add_argument(
            "--storage", action="store_true", help="count the stored files themselves, which takes a while"
        )
        remove = kinds.add_parser(
            "remove", help="remove copies of files of other servers; they are fetched again when needed"
        )
        remove.add_argument("--days", type=int, default=7, help="that nobody has looked at for so many days (7)")
        remove.add_argument("--host", help="of this server only, as its files are addressed: files.example.com")
        refresh = kinds.add_parser(
            "refresh",
            help="have files of other servers that could not be fetched be asked for again, when somebody looks",
        )
        refresh.add_argument("--host", help="of this server only, as its files are addressed: files.example.com")
        prune = kinds.add_parser("prune", help="remove stored files that nothing names, and rows whose file is gone")
        for parser_ in (remove, refresh, prune):
            parser_.add_argument("--dry-run", action="store_true", help="only say what would be removed")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "usage":
            self._usage(storage=options["storage"])
        elif options["what"] == "remove":
            self._remove(options["days"], options["host"], dry_run=options["dry_run"])
        elif options["what"] == "refresh":
            self._refresh(options["host"], dry_run=options["dry_run"])
        else:
            self._prune(dry_run=options["dry_run"])

    def _usage(self, *, storage: bool) -> None:
        for kind, files, size in sum_up_attachments():
            self.stdout.write(f"attachments {kind}: {files}, {_amount(size)}")
        for purpose, state, files, size in sum_up():
            self.stdout.write(f"copies {purpose} {state}: {files}, {_amount(size)}")
        self.stdout.write(f"copies: {_amount(count_bytes())} of {_amount(settings.REMOTE_MEDIA_BUDGET)}")
        for folder, files, size in measure_storage() if storage else ():
            self.stdout.write(f"stored {folder}: {files}, {_amount(size)}")

    def _remove(self, days: int, host: str | None, *, dry_run: bool) -> None:
        if not 0 <= days <= _DAYS_LIMIT:
            raise CommandError(_("Give a number of days from 0 to %(most)d.") % {"most": _DAYS_LIMIT})
        age = timedelta(days=days)
        if dry_run:
            old = Q(state=CopyState.READY, served_at__lt=clock.now() - age)
            chosen = RemoteCopy.objects.filter(old & Q(host=host.lower()) if host else old)
            removed, freed = chosen.aggregate(number=Count("id"))["number"], count_bytes(chosen)
        else:
            removed, freed = remove_old_copies(by=OPERATOR, age=age, host=host, progress=self._progress)
        self.stdout.write(f"{removed} copies, {_amount(freed)}")

    def _refresh(self, host: str | None, *, dry_run: bool) -> None:
        failed = Q(state=CopyState.FAILED)
        if dry_run:
            count = RemoteCopy.objects.filter(failed & Q(host=host.lower()) if host else failed).count()
        else:
            count = forget_failures(by=OPERATOR, host=host)
        self.stdout.write(f"{count} files that could not be fetched")

    def _prune(self, *, dry_run: bool) -> None:
        pruned = prune_media(by=OPERATOR, dry_run=dry_run, progress=self._progress)
        self.stdout.write(
            f"{pruned.files} files that nothing names, {_amount(pruned.bytes)}; {pruned.unattached} unattached; "
            f"{pruned.copies} copies without their file"
        )
        for number in pruned.lost:
            self.stdout.write(f"attachment {number}: its file is lost")

    def _progress(self, files: int, size: int) -> None:
        self.stderr.write(f"{files}, {_amount(size)}")


def _amount(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
