"""Deletes posts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.db import transaction

from accounts.services import counters as account_counters
from accounts.services.featured_tags import count_featured_use
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.media import storage
from statuses.events import StatusDeleted
from statuses.models import MediaAttachment, Status, StatusTag
from statuses.policies.visibility import FOR_ADDRESSED
from statuses.services.changing import change_statuses
from statuses.services.counters import bump


def delete_status(*, status_id: int, delete_media: bool = False) -> None:
    """Delete a post or a boost, and every boost of it. Nothing happens when it is deleted already.

    The rows stay, invisible, until the clean-up. Files are unattached and wait a day to be posted again; with
    `delete_media` they are removed at once. Announces StatusDeleted (contract, behaviours section 7 "Deleting").
    """
    now = clock.now()
    with transaction.atomic():
        # The row lock makes two deletions count once, and orders this announcement after those made before.
        locked = Status.objects.select_for_update().filter(id=status_id, deleted_at=None).first()
        if locked is None:
            return
        reblogs = dict(
            Status.objects.select_for_update()
            .filter(reblog_of_id=locked.id, deleted_at=None)
            .order_by("id")
            .values_list("id", "account_id")
        )
        change_statuses([locked.id, *reblogs], deleted_at=now)
        files = _let_go_of_media(locked, delete_media=delete_media)
        publish(
            StatusDeleted(
                status_id=locked.id,
                account_id=locked.account_id,
                local=locked.local,
                reblog_of_id=locked.reblog_of_id,
            )
        )
        if locked.local and locked.is_public:
            used = StatusTag.objects.filter(status_id=locked.id).values("tag_id")
            count_featured_use(locked.account_id, used, locked.created_at, -1)
        _uncount(locked, reblogs.values())
        if files:
            transaction.on_commit(lambda: storage.remove(*files))


def _let_go_of_media(status: Status, *, delete_media: bool) -> list[str]:
    """Unattach or remove the files of a post; the paths that nothing names any more."""
    attached = MediaAttachment.objects.filter(status_id=status.id)
    if not delete_media:
        attached.update(status=None, unattached_at=clock.now())
        return []
    files = [path for media in attached for path in (media.file, media.preview) if path]
    attached.delete()
    return files


def _uncount(status: Status, booster_ids: Iterable[int]) -> None:
    authors = Counter(booster_ids)
    if status.visibility not in FOR_ADDRESSED:
        authors[status.account_id] += 1
    account_counters.bump({(account_id, "statuses_count"): -number for account_id, number in authors.items()})
    if status.reblog_of_id is not None:
        bump({(status.reblog_of_id, "reblogs_count"): -1})
    elif status.in_reply_to_id is not None and status.is_public:
        bump({(status.in_reply_to_id, "replies_count"): -1})
