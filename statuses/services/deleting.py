"""Deletes posts."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.services import counters as account_counters
from accounts.services.featured_tags import count_featured_use
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.media import storage
from statuses.events import AnswersOutlived, BoostsOutlived, StatusDeleted
from statuses.models import MediaAttachment, Pin, Quote, QuoteState, Status, StatusCard, StatusTag
from statuses.policies.visibility import is_counted
from statuses.services.changing import change_statuses
from statuses.services.copies import forget_copies_of
from statuses.services.counters import Counter, bump

STEP: Final = 500
"""Boosts deleted, and answers detached, in one transaction."""


def delete_status(*, status_id: int, delete_media: bool = False) -> None:
    """Delete a post or a boost, and every boost of it. Nothing happens when it is deleted already.

    Of many boosts the first STEP go at once, and BoostsOutlived has the others deleted: nobody sees a boost of a deleted
    post, but its row and its author's count go in steps. Its answers leave the thread the same way: they name no post
    any more, only whom they answer.

    The row stays, invisible. Files are unattached and wait a day to be posted again; with
    `delete_media` they are removed at once. Announces StatusDeleted (contract, behaviours section 7 "Deleting").
    """
    now = clock.now()
    with transaction.atomic():
        # The row lock makes two deletions count once, and orders this event after those published before.
        locked = Status.objects.select_for_update().filter(id=status_id, deleted_at=None).first()
        if locked is None:
            return
        change_statuses([locked.id], deleted_at=now)
        boosters = _delete_boosts(locked.id)
        _detach_answers(locked.id)
        Pin.objects.filter(status_id=locked.id).delete()
        StatusCard.objects.filter(status_id=locked.id).delete()
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
        quoted = Quote.objects.filter(status_id=locked.id, state=QuoteState.ACCEPTED)
        _uncount(locked, boosters, quoted.values_list("quoted_status_id", flat=True).first())
        if files:
            transaction.on_commit(partial(storage.remove, *files), robust=True)


def delete_more_boosts(events: Sequence[BoostsOutlived]) -> None:
    """The next step for posts that were deleted with many boosts."""
    for status_id in {event.status_id for event in events}:
        with transaction.atomic():
            boosters = Tally(_delete_boosts(status_id))
            account_counters.bump({(booster, "statuses_count"): -number for booster, number in boosters.items()})


def _delete_boosts(status_id: int) -> list[int]:
    """Delete up to STEP boosts of a post, in the caller's transaction, and publish an event when there may be more.
    Returns their authors.

    They are counted by the caller, last.
    """
    rows = Status.objects.select_for_update().filter(reblog_of_id=status_id, deleted_at=None).order_by("id")
    boosts = dict(rows.values_list("id", "account_id")[:STEP])
    change_statuses(boosts, deleted_at=clock.now())
    if len(boosts) == STEP:
        publish(BoostsOutlived(status_id=status_id))
    return list(boosts.values())


def detach_more_answers(events: Sequence[AnswersOutlived]) -> None:
    """The next step for posts that were deleted with many answers."""
    for status_id in {event.status_id for event in events}:
        with transaction.atomic():
            _detach_answers(status_id)


def _detach_answers(status_id: int) -> None:
    """Take the post out of up to STEP answers, in the caller's transaction, and publish an event when there may be more."""
    answers = Status.objects.select_for_update().filter(in_reply_to_id=status_id).order_by("id")
    ids = list(answers.values_list("id", flat=True)[:STEP])
    change_statuses(ids, in_reply_to=None)
    if len(ids) == STEP:
        publish(AnswersOutlived(status_id=status_id))


def _let_go_of_media(status: Status, *, delete_media: bool) -> list[str]:
    """Unattach or remove the files of a post, and of its earlier versions; the paths that nothing names any more."""
    attached = MediaAttachment.objects.filter(Q(status_id=status.id) | Q(former_status_id=status.id))
    if not delete_media:
        attached.update(status=None, former_status=None, unattached_at=clock.now())
        return []
    files = [path for media in attached for path in media.paths]
    forget_copies_of(attached)
    attached.delete()
    return files


def _uncount(status: Status, booster_ids: Iterable[int], quoted_id: int | None) -> None:
    authors = Tally(booster_ids)
    if is_counted(status.visibility):
        authors[status.account_id] += 1
    account_counters.bump({(account_id, "statuses_count"): -number for account_id, number in authors.items()})
    changes: dict[tuple[int, Counter], int] = {}
    if status.reblog_of_id is not None:
        changes[status.reblog_of_id, "reblogs_count"] = -1
    elif status.in_reply_to_id is not None and status.is_public:
        changes[status.in_reply_to_id, "replies_count"] = -1
    if quoted_id is not None:
        changes[quoted_id, "quotes_count"] = -1
    bump(changes)
