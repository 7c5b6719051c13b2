"""Removes copies of remote files: to stay within the budget, on demand, and with their post or profile (docs/adr/0021)."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.copies.models import CopyPurpose, CopyState, RemoteCopy
from accounts.copies.policies import digest_of
from accounts.copies.queries import count_bytes
from accounts.queries.site_settings import find_media_budget
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.media import storage

_BATCH: Final = 200
_BATCHES: Final = 50
_FAILURE_RETENTION: Final = timedelta(days=7)


def trim_copies() -> int:
    """Remove the least recently served copies beyond the budget, and failures older than a week; return the number of
    removed copies.

    One call removes a limited number of copies. Run by the scheduler, once a minute.
    """
    now = clock.now()
    forgotten = Q(state=CopyState.FAILED, requested_at__lt=now - _FAILURE_RETENTION)
    RemoteCopy.objects.filter(forgotten).delete()
    surplus = count_bytes() - find_media_budget()
    removed = 0
    for _batch in range(_BATCHES):
        if surplus <= 0:
            break
        number, freed = _remove_batch(Q(state=CopyState.READY), surplus=surplus)
        if not number:
            break
        removed += number
        surplus -= freed
    return removed


def remove_copies(
    *, served_before: datetime, host: str | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[int, int]:
    """Remove copies that were last served before a given time, from one server or from all servers; return their number and
    bytes.

    Each batch is a transaction, after which `progress` is called with the number and bytes removed so far.
    """
    chosen = Q(state=CopyState.READY, served_at__lt=served_before)
    if host is not None:
        chosen &= Q(host=host.lower())
    removed = freed = 0
    while True:
        number, size = _remove_batch(chosen)
        if not number:
            return removed, freed
        removed, freed = removed + number, freed + size
        if progress is not None:
            progress(removed, freed)


def _remove_batch(chosen: Q, *, surplus: int | None = None) -> tuple[int, int]:
    """Remove up to _BATCH copies, but no more than needed for the surplus; return their number and bytes."""
    with transaction.atomic():
        rows = RemoteCopy.objects.select_for_update(skip_locked=True).filter(chosen).order_by("served_at", "id")
        old: list[RemoteCopy] = []
        freed = 0
        for copy in rows[:_BATCH]:
            if surplus is not None and freed >= surplus:
                break
            old.append(copy)
            freed += copy.file_size + copy.preview_size
        RemoteCopy.objects.filter(id__one_of=[copy.id for copy in old]).delete()
    # Files are removed after the commit, because a file without a row only wastes space, but a row without its file is shown
    # as a broken picture.
    storage.remove(*(path for copy in old for path in copy.paths))
    return len(old), freed


def forget_copies(*, purposes: Iterable[CopyPurpose], urls: Iterable[str]) -> None:
    """Remove the copies of a deleted post's or profile's files: rows in the caller's transaction, files after its commit."""
    digests = [digest_of(purpose, url) for url in urls for purpose in purposes]
    for batch in in_batches(digests, _BATCH):
        copies = RemoteCopy.objects.select_for_update().filter(digest__one_of=batch)
        paths = [path for copy in copies for path in copy.paths]
        RemoteCopy.objects.filter(digest__one_of=batch).delete()
        storage.remove_after_commit(*paths)
