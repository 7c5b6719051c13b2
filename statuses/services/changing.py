"""Changes rows of existing posts. Every change goes through here, so that no cached body is older than the change.

This module also locks a post while a row that refers to the post is written, and updates counters. Counters are updated last in
the caller's transaction, in id order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from django.db import connection
from django.db.models import F

from accounts.copies.models import CopyPurpose
from accounts.copies.services.removal import forget_copies
from accounts.events import AccountRenamed
from social.kernel.batches import in_batches
from social.kernel.counters import Counters
from statuses.models import MediaAttachment, Mention, Status

BATCH_SIZE: Final = 500


def change_statuses(status_ids: Collection[int], **values: Any) -> None:
    """Write `values` and increase the posts' versions, so that no cached body stays valid. Atomic only in a transaction."""
    for ids in in_batches(sorted(status_ids), BATCH_SIZE):
        Status.objects.filter(id__one_of=ids).update(version=F("version") + 1, **values)


def renew_mentions(events: Sequence[AccountRenamed]) -> None:
    """Invalidate the bodies of all posts that mention renamed accounts, one batch per transaction. Idempotent."""
    for account_id in {event.account_id for event in events}:
        mentions = Mention.objects.filter(account_id=account_id).order_by("-status_id")
        found = list(mentions.values_list("status_id", flat=True)[:BATCH_SIZE])
        while found:
            change_statuses(found)
            found = list(mentions.filter(status_id__lt=found[-1]).values_list("status_id", flat=True)[:BATCH_SIZE])


_STATUS_LOCK: Final = "SELECT 1 FROM statuses_status WHERE id = %s AND deleted_at IS NULL FOR KEY SHARE"


def lock_status(status_id: int) -> bool:
    """Keep a post from being deleted until the caller's transaction ends; return False if it is already deleted.

    Code that stores a reference to a post calls this function **before** it changes anything. In this order, the code waits for
    a running deletion while the code holds no other locks, and a later deletion sees the added row. The check of the foreign
    key, at the end of the transaction, would come too late, because the deletion may then wait for counters of this
    transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATUS_LOCK, [status_id])
        return cursor.fetchone() is not None


Counter = Literal["replies_count", "reblogs_count", "favourites_count", "quotes_count", "remote_replies_count"]

# The number of replies that a server reports includes replies that arrive here later. Therefore only replies written here are
# added to that number.
_REMOTE_COLUMNS: Final[Mapping[Counter, str]] = {
    "reblogs_count": "remote_reblogs_count",
    "favourites_count": "remote_favourites_count",
}
bump: Final = Counters[Counter]("statuses_statusstat", "status_id", get_args(Counter), _REMOTE_COLUMNS).bump
"""Function that adds numbers to counters, keyed by (status id, counter). Counters of accounts must be changed before these
counters."""


def forget_copies_of(files: Iterable[MediaAttachment]) -> None:
    """Remove the local copies of these remote files, in the caller's transaction; files of this server have no copies."""
    urls = [url for media in files for url in (media.remote_url, media.preview_remote_url) if url]
    if urls:
        forget_copies(purposes=(CopyPurpose.ATTACHMENT, CopyPurpose.COVER), urls=urls)
