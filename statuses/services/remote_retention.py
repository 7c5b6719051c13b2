"""Removes old remote posts that no local account needs. Apps in higher layers use
`register_need` to register further reasons to keep a post.
"""

import time
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from accounts.models import Account, Follow, SiteSetting
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.site_settings import find_remote_posts_limit, retention_days
from accounts.services.audit import record, write_setting
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.ids import first_at
from statuses import models
from statuses.services.changing import bump
from statuses.services.deleting import BATCH_SIZE, kept_ids, remove_rows

LEAST_AGE: Final = timedelta(days=7)
"""Minimum age of removed posts, and minimum time since a fetch, so that the account that requested the post can reply."""
PASS_INTERVAL: Final = timedelta(days=1)
"""Time between the starts of two passes over all posts."""
RUN_SECONDS: Final = 20
"""Seconds after which a run ends; the next run continues where it ended."""
REMOVED_AT_ONCE: Final = 100
"""Maximum number of posts removed in one transaction, which takes 0.2 s."""
PROGRESS_SETTING: Final = "remote_posts_pass"
SAMPLES_SETTING: Final = "remote_posts_samples"
SAMPLES_LIMIT: Final = 31

_NEEDS: Final[list[Exists]] = []
_OTHER_PARTS: Final = (models.Mention, models.StatusTag, models.StatusEdit, models.Favourite, models.MediaAttachment)


def register_need(condition: Exists) -> None:
    """Register a condition on rows of `Status`: posts that meet it are kept. An index must support the condition."""
    _NEEDS.append(condition)


@dataclass(frozen=True)
class Progress:
    """Progress of a removal: numbers of posts checked and removed so far."""

    looked_at: int
    removed: int


@dataclass
class Pass:
    """A pass over the posts from other servers, newest first, and its progress.

    `terms` are the settings with which it began, `before` is the id of the last post checked, and `ended_at` is empty until all
    posts have been checked.
    """

    terms: list[int]
    before: int
    began_at: str
    ended_at: str = ""
    looked_at: int = 0
    removed: int = 0


@dataclass(frozen=True)
class Sample:
    """Number of remote posts at a certain time, and an estimate of the bytes that they take in the database."""

    taken_at: str
    rows: int
    bytes: int


def remove_remote_statuses(
    *, by: Staff, older_than: timedelta, of_followed: bool = False, dry_run: bool = False
) -> Iterator[Progress]:
    """Remove old remote posts, newest first; with `dry_run` only count them. Raises Forbidden at the first step.

    A post is kept if a local account

    - follows the author or a booster of the post (unless `of_followed`), or has the author in a list;
    - is mentioned in the post or was notified of the post;
    - has replied to, boosted, quoted, favourited, bookmarked or filtered the post, or voted in its poll;
    - is waiting for the author's consent to favourite or boost the post; or
    - has a draft or a scheduled post that replies to or quotes the post.

    A post is also kept if a local post is in its thread; if the post replies to, boosts or quotes a local account; if a kept
    post replies to or quotes the post; if its author has pinned the post; if staff have put the author's account on hold; if
    staff review the post; and for LEAST_AGE after the post was fetched. Replies are newer than their parents, so a whole thread
    is removed in one run. Can be interrupted at any time.
    """
    require(by, Permission.MANAGE_FEDERATION)
    if not dry_run:
        record(by=by, action="remove", target_type="Status", target_id=0, target_name=f"> {older_than.days} d")
    before, looked_at, removed = first_at(clock.now() - older_than), 0, 0
    # In a dry run, the ids of the posts found so far, which no longer count as replies to their parents. The ids are negated,
    # so that the array is in ascending order.
    found = array("q") if dry_run else None
    while window := _window(before):
        ids = _unneeded(window, of_followed=of_followed, gone=found)
        if found is not None:
            found.extend(-number for number in reversed(ids))
        looked_at += len(window)
        removed += len(ids) if dry_run else _remove(ids, of_followed=of_followed)
        before = window[-1]
        yield Progress(looked_at, removed)


def remove_old_remote_posts() -> int:
    """Remove posts from other servers that no local account needs, according to KEEP_REMOTE_POSTS_DAYS and REMOTE_POSTS_LIMIT;
    return how many.

    The scheduler runs this every ten minutes. A run begins no new batch after RUN_SECONDS, and pauses after each batch for as
    long as the batch took, but at most a second. A pass over all posts begins a day after the previous pass, or when the
    settings change.
    """
    samples, current = load_state()
    _take_sample(samples)
    terms = [retention_days("KEEP_REMOTE_POSTS_DAYS"), find_remote_posts_limit()]
    if not any(terms):
        return 0
    is_due = current is not None and datetime.fromisoformat(current.began_at) <= clock.now() - PASS_INTERVAL
    if current is None or current.terms != terms or (current.ended_at and is_due):
        current = Pass(terms, _first_end(*terms), clock.iso(clock.now()))
    removed, end = 0, time.monotonic() + RUN_SECONDS
    while not current.ended_at:
        began = time.monotonic()
        window = _window(current.before)
        if window:
            count = _remove(_unneeded(window))
            current.before, removed = window[-1], removed + count
            current.looked_at, current.removed = current.looked_at + len(window), current.removed + count
        else:
            current.ended_at = clock.iso(clock.now())
        write_setting(PROGRESS_SETTING, asdict(current))
        if time.monotonic() >= end:
            break
        time.sleep(min(time.monotonic() - began, 1))
    return removed


def load_state() -> tuple[list[Sample], Pass | None]:
    """Return one sample for each of the last days, oldest first, and the running or last pass, if any."""
    rows = SiteSetting.objects.filter(key__one_of=[SAMPLES_SETTING, PROGRESS_SETTING])
    stored = dict(rows.values_list("key", "value"))
    current = stored.get(PROGRESS_SETTING)
    return [Sample(*row) for row in stored.get(SAMPLES_SETTING) or ()], Pass(**current) if current else None


def bytes_of_posts(count: int) -> int:
    """Return an estimate of the bytes that this number of posts and all rows belonging to them take in the database."""
    owned = {relation.related_model for relation in models.Status._meta.related_objects if relation.one_to_one}
    tables = [model._meta.db_table for model in (models.Status, *owned, *_OTHER_PARTS)]  # type: ignore[attr-defined]  # models, of different classes
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)), (SELECT count(*) FROM statuses_status)"
            " FROM unnest(%s::text[]) name",
            [tables],
        )
        size, rows = cursor.fetchone() or (0, 0)
    return int(size) * count // max(rows, 1)


def _take_sample(samples: Sequence[Sample]) -> None:
    now = clock.now()
    if samples and datetime.fromisoformat(samples[-1].taken_at) > now - PASS_INTERVAL:
        return
    rows = models.Status.objects.count() - models.Status.objects.filter(local=True).count()
    new = Sample(clock.iso(now), rows, bytes_of_posts(rows))
    kept = [*samples, new][-SAMPLES_LIMIT:]
    write_setting(SAMPLES_SETTING, [list(asdict(sample).values()) for sample in kept])


def _first_end(days: int, limit: int) -> int:
    # Posts with lower ids are too old, or not among the newest `limit`.
    ends = [first_at(clock.now() - timedelta(days=days))] if days else []
    if limit:
        ends += _remote().order_by("-id").values_list("id", flat=True)[limit - 1 : limit]
    return min(max(ends, default=0), first_at(clock.now() - LEAST_AGE))


def _remote() -> QuerySet[models.Status]:
    # Deleted posts are removed by `statuses.services.deleting`, after a fixed time.
    return models.Status.objects.filter(local=False, deleted_at=None)


def _window(before: int) -> list[int]:
    return list(_remote().filter(id__lt=before).order_by("-id").values_list("id", flat=True)[:BATCH_SIZE])


def _remove(status_ids: Sequence[int], *, of_followed: bool = False) -> int:
    # The posts were checked without a lock. The posts are now locked and checked again, newest first.
    _remove_surplus(status_ids)
    removed = 0
    for ids in in_batches(sorted(status_ids, reverse=True), REMOVED_AT_ONCE):
        with transaction.atomic():
            locked = models.Status.objects.select_for_update(of=("self",), skip_locked=True).filter(id__one_of=ids)
            # Somebody may have replied to a post or favourited it before it was locked.
            found = list(locked.order_by("id").values_list("id", flat=True))
            removed += remove_rows(_unneeded(found, of_followed=of_followed))
    return removed


def _remove_surplus(status_ids: Sequence[int]) -> None:
    # Removes boosts and favourites of the posts in separate transactions, until fewer than a batch of each are left.
    boosts = models.Status.objects.filter(reblog_of_id__one_of=list(status_ids), local=False).values_list(
        "id", flat=True
    )
    while len(ids := list(boosts[:BATCH_SIZE])) == BATCH_SIZE:
        with transaction.atomic():
            remove_rows(ids)
    favourites = models.Favourite.objects.filter(status_id__one_of=list(status_ids), account__domain__isnull=False)
    while len(rows := list(favourites.values_list("id", "status_id")[:BATCH_SIZE])) == BATCH_SIZE:
        counts: dict[Any, int] = defaultdict(int)
        for _number, status_id in rows:
            counts[status_id, "favourites_count"] -= 1
        with transaction.atomic():
            models.Favourite.objects.filter(id__one_of=[number for number, _status_id in rows]).delete()
            bump(counts)


def _unneeded(window: Sequence[int], *, of_followed: bool = False, gone: Sequence[int] | None = None) -> list[int]:
    """Return the sorted ids of the remote posts in `window` that can be removed, because no local account needs these posts,
    their replies or their quotes. `gone` lists, negated and sorted, the ids of replies and quotes that are ignored.
    """
    itself, thread = OuterRef("id"), OuterRef("thread_id")
    written_id = Cast(itself, TextField())
    drafts = models.ScheduledStatus.objects.annotate(
        parent=KT("draft__in_reply_to_id"), quoted=KT("draft__quoted_status_id")
    )
    requests = models.InteractionRequest.objects.filter(account__domain=None, state=models.RequestState.PENDING)
    followed = Exists(Follow.objects.filter(target_id=OuterRef("account_id"), account__domain=None))
    needs: list[Exists | Q] = [
        Exists(models.Status.objects.filter(reblog_of_id=itself, local=True)),
        Exists(models.Quote.objects.filter(quoted_status_id=itself, status__local=True)),
        Exists(models.Quote.objects.filter(status_id=itself, quoted_status__local=True)),
        Exists(models.Status.objects.filter(id=OuterRef("reblog_of_id"), local=True)),
        Exists(models.Status.objects.filter(id=thread, local=True)),
        Exists(models.Status.objects.filter(thread_id=thread, local=True)),
        Exists(models.Mention.objects.filter(status_id=itself, account__domain=None)),
        Exists(models.Favourite.objects.filter(status_id=itself, account__domain=None)),
        Exists(models.Bookmark.objects.filter(status_id=itself)),
        Exists(models.FilterStatus.objects.filter(status_id=itself)),
        Exists(models.PollVote.objects.filter(poll__status_id=itself, account__domain=None)),
        Exists(models.Pin.objects.filter(status_id=itself)),
        Exists(models.HeldPost.objects.filter(status_id=itself)),
        Exists(requests.filter(status_id=itself)),
        Exists(drafts.filter(parent=written_id)),
        Exists(drafts.filter(quoted=written_id)),
        Exists(Account.objects.filter(id=OuterRef("in_reply_to_account_id"), domain=None)),
        Exists(Account.objects.filter(id=OuterRef("account_id"), held_at__isnull=False)),
        Q(arrived_at__gt=clock.now() - LEAST_AGE),
        *_NEEDS,
    ]
    if not of_followed:
        needs += [followed, Exists(models.Status.objects.filter(followed, reblog_of_id=itself))]
    rows = _remote().filter(id__one_of=list(window))
    for need in needs:
        rows = rows.exclude(need)
    ids = set(rows.values_list("id", flat=True))
    return _without_answers(ids - kept_ids(ids), gone)


def _without_answers(status_ids: Collection[int], gone: Sequence[int] | None) -> list[int]:
    ids = list(status_ids)
    rows = models.Status.objects.filter(id__one_of=ids)
    if gone is None:
        # EXISTS stops at the first reply that is not among the posts, so that a post with very many replies costs no more than
        # a post with few replies.
        rows = rows.exclude(Exists(models.Status.objects.filter(in_reply_to_id=OuterRef("id")).exclude(id__one_of=ids)))
        rows = rows.exclude(
            Exists(models.Quote.objects.filter(quoted_status_id=OuterRef("id")).exclude(status_id__one_of=ids))
        )
    left = set(rows.values_list("id", flat=True))
    answers: dict[int, list[int]] = defaultdict(list)
    replies = models.Status.objects.filter(in_reply_to_id__one_of=list(left)).values_list("in_reply_to_id", "id")
    quotes = models.Quote.objects.filter(quoted_status_id__one_of=list(left)).values_list(
        "quoted_status_id", "status_id"
    )
    for parent_id, number in replies.union(quotes, all=True):
        if gone is None or not _contains(gone, -number):
            answers[parent_id].append(number)
    removable_ids: set[int] = set()
    for number in sorted(left, reverse=True):
        if removable_ids.issuperset(answers[number]):
            removable_ids.add(number)
    return sorted(removable_ids)


def _contains(ordered: Sequence[int], number: int) -> bool:
    place = bisect_left(ordered, number)
    return place < len(ordered) and ordered[place] == number
