from datetime import timedelta

from django.db.models import Count, Q

from accounts.copies.models import CopyState, RemoteCopy
from accounts.copies.queries import count_bytes, sum_up
from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import find_media_budget
from social.kernel import clock
from social.management.base import Days, OperatorCommand
from statuses.queries.media import sum_up_attachments
from statuses.services.media_upkeep import forget_failures, measure_storage, prune_media, remove_old_copies


class Command(OperatorCommand):
    """Show what the media storage holds, remove old copies of files from other servers or files that nothing refers to, or have
    files from other servers fetched again.

    After an interruption, run the command again.
    """

    def usage(self, *, storage: bool) -> None:
        """Show the number and size of files by kind.

        storage: also count the stored files themselves, which takes a while
        """
        for kind, files, size in sum_up_attachments():
            self.stdout.write(f"attachments {kind}: {files}, {_amount(size)}")
        for purpose, state, files, size in sum_up():
            self.stdout.write(f"copies {purpose} {state}: {files}, {_amount(size)}")
        self.stdout.write(f"copies: {_amount(count_bytes())} of {_amount(find_media_budget())}")
        for folder, files, size in measure_storage() if storage else ():
            self.stdout.write(f"stored {folder}: {files}, {_amount(size)}")

    def remove(self, *, days: Days = 7, host: str | None = None, dry_run: bool) -> None:
        """Remove copies of files from other servers; they are fetched again when needed.

        days: only copies that nobody has looked at for this number of days (%(default)s)
        host: only files whose addresses have this host: files.example.com
        """
        age = timedelta(days=days)
        if dry_run:
            old = RemoteCopy.objects.filter(_on_host(host), state=CopyState.READY, served_at__lt=clock.now() - age)
            removed, freed = old.aggregate(number=Count("id"))["number"], count_bytes(old)
        else:
            removed, freed = remove_old_copies(by=OPERATOR, age=age, host=host, progress=self._progress)
        self.stdout.write(f"{removed} copies, {_amount(freed)}")

    def refresh(self, *, host: str | None = None, dry_run: bool) -> None:
        """Retry files from other servers that could not be fetched: they are fetched when somebody next views them.

        host: only files whose addresses have this host: files.example.com
        """
        if dry_run:
            count = RemoteCopy.objects.filter(_on_host(host), state=CopyState.FAILED).count()
        else:
            count = forget_failures(by=OPERATOR, host=host)
        self.stdout.write(f"{count} files that could not be fetched")

    def prune(self, *, dry_run: bool) -> None:
        """Remove stored files that nothing refers to, and rows whose file is gone."""
        pruned = prune_media(by=OPERATOR, dry_run=dry_run, progress=self._progress)
        self.stdout.write(
            f"{pruned.files} files that nothing names, {_amount(pruned.bytes)}; {pruned.unattached} unattached; "
            f"{pruned.copies} copies without their file"
        )
        for number in pruned.lost:
            self.stdout.write(f"attachment {number}: its file is lost")

    def _progress(self, files: int, size: int) -> None:
        self.stderr.write(f"{files}, {_amount(size)}")


def _on_host(host: str | None) -> Q:
    return Q(host=host.lower()) if host else Q()


def _amount(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
