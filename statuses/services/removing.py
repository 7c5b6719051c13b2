"""Removes the rows of posts that nobody here needs: old remote posts without local interactions, and posts deleted long
ago.

An app of a higher layer can exempt posts: it calls `keep(function)` when the process starts.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.models import Account, Follow
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services import changing as account_counters
from accounts.services.audit import record
from social.kernel import clock
from social.kernel.ids import first_at
from social.kernel.media import storage
from statuses.models import (
    Bookmark,
    Favourite,
    FilterStatus,
    MediaAttachment,
    Mention,
    PollVote,
    Quote,
    QuoteState,
    Status,
)
from statuses.policies.visibility import OPEN_VISIBILITIES, is_counted
from statuses.services.changing import Counter, bump

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


@dataclass(frozen=True)
class Progress:
    """Progress of a removal: numbers of posts checked and removed so far."""

    looked_at: int
    removed: int


def remove_remote_statuses(
    *, by: Staff, older_than: timedelta, of_followed: bool = False, dry_run: bool = False
) -> Iterator[Progress]:
    """Remove old remote posts, newest first; with `dry_run` only count them. Raises Forbidden at the first step.

    A post is kept if a local account follows its author or an account that boosted it (unless `of_followed`); is mentioned in
    it; has replied to, boosted, quoted, favourited, bookmarked or filtered it, or voted in it; if it replies to, boosts or
    quotes a local account; if a kept post replies to it; and if staff review it. Replies are newer than their parents, so a
    whole thread is removed in one run. Can be interrupted at any time.
    """
    require(by, Permission.MANAGE_FEDERATION)
    if not dry_run:
        record(by=by, action="remove", target_type="Status", target_id=0, target_name=f"> {older_than.days} d")
    before, looked_at, removed = first_at(clock.now() - older_than), 0, 0
    while True:
        rows = Status.objects.filter(local=False, id__lt=before).order_by("-id")
        window = list(rows.values_list("id", flat=True)[:BATCH_SIZE])
        if not window:
            return
        looked_at += len(window)
        with transaction.atomic():
            removable_ids = _unconcerned(window, of_followed=of_followed)
            removed += len(removable_ids) if dry_run else remove_rows(removable_ids)
        before = window[-1]
        yield Progress(looked_at, removed)


def remove_deleted_statuses(now: datetime | None = None) -> int:
    """Remove the rows of posts that were deleted more than RETENTION ago, with their files, and return how many. At most
    BATCH_SIZE, oldest first: run by the scheduler, every hour.
    """
    end = (now or clock.now()) - RETENTION
    with transaction.atomic():
        rows = Status.objects.filter(deleted_at__lt=end).order_by("deleted_at")
        window = list(rows.values_list("id", flat=True)[:BATCH_SIZE])
        return remove_rows(sorted(set(window) - _kept_ids(window)))


def _kept_ids(status_ids: Collection[int]) -> set[int]:
    return {number for keeper in _KEEPERS for number in keeper(status_ids)}


def _unconcerned(window: Sequence[int], *, of_followed: bool) -> list[int]:
    """Lock and return the posts with which no local account has interacted and whose replies are all removed as well."""
    itself = OuterRef("id")
    followed = Exists(Follow.objects.filter(target_id=OuterRef("account_id"), account__domain=None))
    concerned = [
        Exists(Status.objects.filter(reblog_of_id=itself, local=True)),
        Exists(Quote.objects.filter(quoted_status_id=itself, status__local=True)),
        Exists(Quote.objects.filter(status_id=itself, quoted_status__local=True)),
        Exists(Status.objects.filter(id=OuterRef("reblog_of_id"), local=True)),
        Exists(Mention.objects.filter(status_id=itself, account__domain=None)),
        Exists(Favourite.objects.filter(status_id=itself, account__domain=None)),
        Exists(Bookmark.objects.filter(status_id=itself)),
        Exists(FilterStatus.objects.filter(status_id=itself)),
        Exists(PollVote.objects.filter(poll__status_id=itself, account__domain=None)),
        Exists(Account.objects.filter(id=OuterRef("in_reply_to_account_id"), domain=None)),
    ]
    if not of_followed:
        concerned += [followed, Exists(Status.objects.filter(followed, reblog_of_id=itself))]
    found = Status.objects.select_for_update(of=("self",), skip_locked=True).filter(id__one_of=window, local=False)
    for condition in concerned:
        found = found.exclude(condition)
    ids = set(found.values_list("id", flat=True))
    return _without_answers(ids - _kept_ids(ids))


def _without_answers(status_ids: Collection[int]) -> list[int]:
    """Return the posts all of whose replies are also among `status_ids`."""
    rows = Status.objects.filter(in_reply_to_id__one_of=list(status_ids))
    answers: dict[int, list[int]] = defaultdict(list)
    for number, parent_id in rows.values_list("id", "in_reply_to_id"):
        answers[parent_id or 0].append(number)
    removable_ids: set[int] = set()
    for number in sorted(status_ids, reverse=True):
        if removable_ids.issuperset(answers[number]):
            removable_ids.add(number)
    return sorted(removable_ids)


def remove_rows(status_ids: Sequence[int]) -> int:
    """Remove these rows with their boosts and files, in the caller's transaction, and update the counters. Return how many."""
    if not status_ids:
        return 0
    boosts = Status.objects.filter(reblog_of_id__one_of=list(status_ids))
    ids = sorted({*status_ids, *boosts.values_list("id", flat=True)})
    living = list(Status.objects.filter(id__one_of=ids, deleted_at=None).select_related(None))
    quoted = _quoted(ids)
    media = MediaAttachment.objects.filter(Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids))
    files = [path for item in media for path in item.paths]
    media.delete()
    Status.objects.filter(id__one_of=ids).delete()
    _uncount(living, quoted, set(ids))
    if files:
        transaction.on_commit(partial(storage.remove, *files), robust=True)
    return len(ids)


def _quoted(ids: Sequence[int]) -> list[int]:
    quotes = Quote.objects.filter(status_id__one_of=list(ids), status__deleted_at=None, state=QuoteState.ACCEPTED)
    return [number for number in quotes.values_list("quoted_status_id", flat=True) if number is not None]


def _uncount(living: Sequence[Status], quoted: Sequence[int], removed_ids: Collection[int]) -> None:
    authors = Tally(status.account_id for status in living if is_counted(status.visibility))
    account_counters.bump({(account_id, "statuses_count"): -number for account_id, number in authors.items()})
    changes: Tally[tuple[int, Counter]] = Tally()
    for status in living:
        if status.reblog_of_id is not None:
            changes[status.reblog_of_id, "reblogs_count"] -= 1
        elif status.in_reply_to_id is not None and status.visibility in OPEN_VISIBILITIES:
            changes[status.in_reply_to_id, "replies_count"] -= 1
    for number in quoted:
        changes[number, "quotes_count"] -= 1
    bump({key: change for key, change in changes.items() if key[0] not in removed_ids})
