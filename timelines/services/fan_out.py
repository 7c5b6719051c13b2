"""Brings posts to home feeds and streams, and takes them out again: many posts at once, in a fixed number of queries.

Feeds are written for local followers who were active in the last seven days and for the author; streams are told
whoever is listening. Every reader is judged by `timelines.policies.home.home_verdict`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from social.kernel.batches import in_batches
from statuses.events import StatusDeleted, StatusJoinedThread, StatusPublished
from statuses.models import Status
from statuses.policies.visibility import FOR_FOLLOWERS, is_listed
from statuses.queries.rows import Row, load_rows
from timelines.policies.home import home_verdict, involved_ids
from timelines.queries.fan_out import Readers, list_local_followers, load_readers
from timelines.services.broadcasting import broadcast_deletions, broadcast_posts
from timelines.stores import feed
from timelines.stores.feed import FeedItem

_STEP: Final = 500


def fan_out_posts(events: Sequence[StatusPublished]) -> None:
    """Put new posts into the feeds of their readers, and tell the streams what the feeds have taken.

    Idempotent for feeds; a repeated call tells streams again. What was deleted in the meantime is left out. Raises
    RedisError when feeds cannot be written: the outbox calls again.
    """
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    readers = find_readers(rows)
    skipped = write_feeds(rows, readers)
    broadcast_posts(
        rows, {row: [one for one in accounts if one not in skipped.get(row, ())] for row, accounts in readers.items()}
    )


def fan_out_joined(events: Sequence[StatusJoinedThread]) -> None:
    """Bring answers home that nobody was shown before what they answer was known: to feeds and home streams.

    Idempotent for feeds; a repeated call tells streams again. Raises RedisError when feeds cannot be written: the outbox
    calls again.
    """
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    readers = find_readers(rows)
    write_feeds(rows, readers)
    broadcast_posts(rows, readers, to_public=False)


def find_readers(rows: Sequence[Row]) -> dict[int, list[int]]:
    """By post, the accounts in whose home timelines it belongs: three queries at most, whatever the number of both."""
    if not rows:
        return {}
    followable = {row.proper.account_id for row in rows if row.proper.account_id != row.account_id}
    answered = {row.in_reply_to_account_id for row in rows if row.in_reply_to_account_id != row.account_id}
    followable |= {account for account in answered if account is not None}
    found = load_readers(
        {row.account_id for row in rows},
        people={person for row in rows for person in involved_ids(row)},
        followable=followable,
    )
    return {row.id: _readers_of(row, found) for row in rows}


def _readers_of(row: Row, readers: Readers) -> list[int]:
    candidates: Iterable[int] = readers.of(row.account_id)
    if row.visibility not in FOR_FOLLOWERS:
        candidates = [account for account in (*row.addressed_ids, row.account_id) if account in candidates]
    return [
        account for account in candidates if home_verdict(row, readers.relations(account, row.account_id)).delivered
    ]


def write_feeds(rows: Sequence[Row], readers: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    """Add the posts to the feeds of their readers; by boost, the readers whose feeds skipped it. Raises RedisError."""
    # Readers of the same posts share one list, so that it is encoded once.
    shared: dict[tuple[int, ...], list[FeedItem]] = {}
    items = {row.id: FeedItem(row.id, row.reblog_of_id or 0) for row in rows}
    posts: dict[int, tuple[int, ...]] = defaultdict(tuple)
    for row in rows:
        for account in readers.get(row.id, ()):
            posts[account] += (row.id,)
    accounts = {feed.home(account): account for account in posts}
    skipped = feed.add(
        {
            name: shared.setdefault(posts[account], [items[status_id] for status_id in posts[account]])
            for name, account in accounts.items()
        }
    )
    return {status_id: {accounts[name] for name in names} for status_id, names in skipped.items()}


def withdraw_posts(events: Sequence[StatusDeleted]) -> None:
    """Take deleted posts, and every boost of them, out of feeds, and tell the streams.

    In steps, for a post may have tens of thousands of boosts. Feeds that show a boost which was taken back are built
    again: they may lack somebody else's boost of the same post.
    Raises RedisError when feeds cannot be reached: the outbox calls again. Readers who unfollowed in the meantime
    lost their feed then.
    """
    deleted = [_Deleted(event.status_id, event.account_id, event.reblog_of_id or 0) for event in events]
    undone = {event.status_id for event in events if event.reblog_of_id is not None}
    boosts = Status.objects.filter(reblog_of_id__one_of=[event.status_id for event in events])
    rows = boosts.values_list("id", "account_id", "reblog_of_id").iterator(chunk_size=_STEP)
    boosted = (_Deleted(status_id, account_id, original or 0) for status_id, account_id, original in rows)
    for batch in in_batches(chain(deleted, boosted), _STEP):
        _withdraw(batch, undone)


class _Deleted(NamedTuple):
    id: int
    account_id: int
    original: int


def _withdraw(posts: Sequence[_Deleted], undone: Collection[int]) -> None:
    """Take some posts out of the feeds of their readers and tell the streams; feeds that show an undone boost are dropped."""
    followers = list_local_followers({post.account_id for post in posts})
    gone: dict[str, list[FeedItem]] = defaultdict(list)
    for post in posts:
        item = FeedItem(post.id, post.original)
        if post.id in undone:
            feed.drop_showing(map(feed.home, followers[post.account_id]), [item])
        else:
            for account in followers[post.account_id]:
                gone[feed.home(account)].append(item)
    feed.remove(gone)
    listed = load_rows(post.id for post in posts if not post.original)
    public = {row.id: row.local for row in listed if is_listed(row.visibility)}
    broadcast_deletions({post.id: followers[post.account_id] for post in posts}, public)
