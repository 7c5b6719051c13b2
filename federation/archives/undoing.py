"""Removes the imported posts when an import is undone."""

import time
from typing import Final

from django.db import transaction
from django.db.models import F, Q

from accounts.transfers.models import PastImport, PastState
from social.kernel import clock
from statuses.models import Bookmark, Favourite, ImportedPost, Pin, Quote, Status, StatusEdit
from statuses.services.deleting import delete_statuses, kept_ids, remove_rows, uncount_featured_tags

_BATCH: Final = 100


def undo_some(batch: PastImport, *, seconds: float) -> bool:
    """Remove imported posts for `seconds`; return whether there may be more posts to remove.

    A post is deleted as usual, and other servers are notified, if somebody has interacted with the post, the author has edited
    or pinned the post, or staff must be able to review the post. The rows of all other posts are simply removed.
    """
    end = time.monotonic() + seconds
    while True:
        rows = ImportedPost.objects.filter(batch=batch, status__deleted_at=None).order_by("status")
        ids = list(rows.values_list("status_id", flat=True)[:_BATCH])
        if not ids:
            break
        _remove(batch, ids)
        if time.monotonic() >= end:
            return True
    # This also removes the records of posts that their author has deleted, so that these posts can be imported again.
    ImportedPost.objects.filter(batch=batch).delete()
    undoing = PastImport.objects.filter(id=batch.id, state=PastState.UNDOING)
    undoing.update(state=PastState.UNDONE, finished_at=clock.now())
    return False


def _remove(batch: PastImport, ids: list[int]) -> None:
    with transaction.atomic():
        locked = Status.objects.select_for_update(of=("self",)).filter(id__one_of=ids, deleted_at=None)
        statuses = list(locked.order_by("id"))
        living = [status.id for status in statuses]
        used_ids = _used_by_others(batch.account_id, living) | kept_ids(living)
        delete_statuses(status_ids=used_ids, delete_media=True)
        ImportedPost.objects.filter(status_id__one_of=used_ids).delete()
        uncount_featured_tags([status for status in statuses if status.id not in used_ids])
        remove_rows([status_id for status_id in living if status_id not in used_ids])
        PastImport.objects.filter(id=batch.id).update(done=F("done") - len(living))


def _used_by_others(author_id: int, ids: list[int]) -> set[int]:
    imported = Q(account_id=author_id, from_archive=True)
    used_ids: set[int | None] = set()
    replies = Status.objects.filter(in_reply_to_id__one_of=ids, deleted_at=None).exclude(imported)
    boosts = Status.objects.filter(reblog_of_id__one_of=ids, deleted_at=None)
    used_ids |= set(replies.values_list("in_reply_to_id", flat=True))
    used_ids |= set(boosts.values_list("reblog_of_id", flat=True))
    # Posts that were edited or pinned count as used by others, because edits and pins were sent to the followers' servers.
    for model in (Favourite, Bookmark, Pin, StatusEdit):
        used_ids |= set(model.objects.filter(status_id__one_of=ids).values_list("status_id", flat=True))
    used_ids |= set(Quote.objects.filter(quoted_status_id__one_of=ids).values_list("quoted_status_id", flat=True))
    return {status_id for status_id in used_ids if status_id is not None}
