"""Removes the rows of posts with their boosts, files and counts; also, at intervals, of posts that were deleted long ago. An
app of a higher layer can exempt posts: it calls `keep(function)` when the process starts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q

from social.kernel import clock
from social.kernel.media import storage
from statuses.models import MediaAttachment, Status
from statuses.services.changing import forget_copies_of
from statuses.services.deleting import accepted_quotes, uncount

BATCH_SIZE: Final = 500
"""Posts that are checked, and at most removed, in one transaction."""

RETENTION: Final = timedelta(days=30)
"""Time for which the row of a deleted post is kept (contract, behaviours section 18 "Deletion windows")."""

Keeper = Callable[[Collection[int]], set[int]]
_KEEPERS: list[Keeper] = []


def keep(keeper: Keeper) -> None:
    """Register a function that returns which of the given posts must be kept, for example posts that staff review."""
    if keeper not in _KEEPERS:
        _KEEPERS.append(keeper)


def remove_deleted_statuses(now: datetime | None = None) -> int:
    """Remove the rows of posts that were deleted more than RETENTION ago, with their files, and return how many: at most
    BATCH_SIZE, oldest first. Run by the scheduler every hour.
    """
    end = (now or clock.now()) - RETENTION
    with transaction.atomic():
        rows = Status.objects.filter(deleted_at__lt=end).order_by("deleted_at")
        window = list(rows.values_list("id", flat=True)[:BATCH_SIZE])
        return remove_rows(sorted(set(window) - kept_ids(window)))


def kept_ids(status_ids: Collection[int]) -> set[int]:
    """Return which of these posts an app of a higher layer exempts."""
    return {number for keeper in _KEEPERS for number in keeper(status_ids)}


def remove_rows(status_ids: Sequence[int]) -> int:
    """Remove these rows with their boosts and files, in the caller's transaction; update counters; return how many."""
    if not status_ids:
        return 0
    boosts = Status.objects.filter(reblog_of_id__one_of=list(status_ids))
    ids = sorted({*status_ids, *boosts.values_list("id", flat=True)})
    living = list(Status.objects.filter(id__one_of=ids, deleted_at=None).select_related(None))
    quoted = accepted_quotes([status.id for status in living])
    media = MediaAttachment.objects.filter(Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids))
    files = [path for item in media for path in item.paths]
    forget_copies_of(media)
    media.delete()
    Status.objects.filter(id__one_of=ids).delete()
    uncount(living, quoted, set(ids))
    if files:
        transaction.on_commit(partial(storage.remove, *files), robust=True)
    return len(ids)
