"""Writes rows of posts that exist: whoever changes one goes through here, so that nothing cached outlives the change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db.models import F

from accounts.events import AccountRenamed
from social.kernel.batches import in_batches
from statuses.models import Mention, Status

BATCH: Final = 500


def change_statuses(status_ids: Collection[int], **values: Any) -> None:
    """Write these columns and raise the versions: every cached body of the posts is stale from the commit on.

    In batches, by id; the caller's transaction, if there is one, holds them together.
    """
    for ids in in_batches(sorted(status_ids), BATCH):
        Status.objects.filter(id__one_of=ids).update(version=F("version") + 1, **values)


def renew_mentions(events: Sequence[AccountRenamed]) -> None:
    """Make the bodies of all posts stale that mention accounts whose names or addresses have changed.

    May be repeated. Each batch is committed by itself: such posts may be very many.
    """
    for account_id in {event.account_id for event in events}:
        mentions = Mention.objects.filter(account_id=account_id).order_by("-status_id")
        found = list(mentions.values_list("status_id", flat=True)[:BATCH])
        while found:
            change_statuses(found)
            found = list(mentions.filter(status_id__lt=found[-1]).values_list("status_id", flat=True)[:BATCH])
