"""Answers home and list timelines: from the feed where it can, else completely from SQL, filling the feed on the way.

A feed that is missing (never built, a week without a look, FLUSHALL) or too short is never an error and never a partial
answer (contract, seed-coverage D-10). Every post is judged again when it is read, by the verdict that put it into the
feed: a block, a mute or a deletion takes effect at once, whether the feed was updated already or not. Feeds of open streams
are kept: they say what a stream has shown, and so what a mute or a block withdraws from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from accounts.models import User
from social.kernel import clock, redis
from social.kernel.cursors import Cursor
from statuses.queries.page import PostFilter, PostPage, select
from timelines.models import List
from timelines.policies.feeds import home_verdict, list_verdict
from timelines.queries.feed_pages import FeedPage, NotHeldError, Stretch, find_page
from timelines.queries.home import TaggedPosts, list_home_items
from timelines.queries.lists import list_list_items, load_concerned_members
from timelines.services.broadcasting import withdraw_hidden_posts
from timelines.services.presence import record_presence
from timelines.stores import channels, feed
from timelines.stores.channels import subscribed_channels
from timelines.stores.feed import FeedItem, Slice

STREAM_POSTS: Final = 80
"""Posts that are kept for who reads a stream: two of the longest pages."""

FIRST_PAGE_MARGIN: Final = 60
"""Posts read beyond the first page and what decides about its boosts: with so many more a feed that is being built begins."""

NEXT_PAGES_MARGIN: Final = 280
"""Posts read so at the end of a feed. Whoever has come there goes on: with these in the feed the next fourteen pages
of twenty need no SQL to find them, which would cost each as much again as the page itself (docs/adr/0025).
"""


@dataclass(frozen=True, slots=True)
class FeedSource:
    """Source of a timeline: the name of its feed, its posts from SQL, and the verdict on posts that are read."""

    name: str
    reader_id: int
    list_items: Callable[[Cursor], list[FeedItem]]
    load_filter: Callable[[Sequence[int]], PostFilter]
    # None for the home timeline.
    list_id: int | None = None

    def read(self, cursor: Cursor) -> Stretch:
        """The posts at the cursor from SQL, repeated boosts among them. One query."""
        items = self.list_items(cursor)
        return Stretch(items, complete=len(items) < cursor.limit)


def load_home_page(viewer_id: int, cursor: Cursor) -> PostPage:
    """The posts of the viewer's home timeline at the cursor, newest first: a full page if there are enough.

    From a feed two queries, three with posts that come by a hashtag, else one or two more; `statuses.queries.page.fill`
    adds what showing them takes. Redis may be absent. Marks the viewer as active, about twice a day.
    """
    return _load(home_feed(viewer_id), cursor)


def load_list_page(wanted: List, cursor: Cursor) -> PostPage:
    """The posts of a list at the cursor, newest first: a full page if there are enough. One query more than for
    `load_home_page`."""
    return _load(list_feed(wanted), cursor)


def home_feed(viewer_id: int) -> FeedSource:
    """Make the source of the viewer's home timeline."""

    def load_filter(status_ids: Sequence[int]) -> PostFilter:
        tagged = TaggedPosts(viewer_id, status_ids)
        return lambda row, relations: home_verdict(row, relations, tagged, is_readable=True).delivered

    return FeedSource(feed.home(viewer_id), viewer_id, partial(list_home_items, viewer_id), load_filter)


def list_feed(wanted: List) -> FeedSource:
    """Make the source of a list's timeline."""

    def load_filter(status_ids: Sequence[int]) -> PostFilter:
        members = load_concerned_members(wanted.id, status_ids)
        policy = wanted.replies_policy
        return lambda row, relations: list_verdict(row, relations, policy, members, is_readable=True).delivered

    list_items = partial(list_list_items, wanted)
    return FeedSource(feed.of_list(wanted.id), wanted.account_id, list_items, load_filter, wanted.id)


def load_held_ids(source: FeedSource) -> list[int]:
    """The posts that the feed holds, whether they may be shown or not. One command of Redis."""
    held: Slice | None = None
    with redis.best_effort("read a feed"):
        held = feed.read(source.name, source.reader_id, Cursor(feed.MAX_ITEMS))
    return [] if held is None else [item.id for item in held.items]


def load_lost_ids(source: FeedSource, status_ids: Sequence[int]) -> list[int]:
    """Load which of the posts the timeline shows no more. Three queries."""
    shown = set(select(status_ids, source.reader_id, source.load_filter(status_ids)).ids)
    return [status_id for status_id in status_ids if status_id not in shown]


def rebuild(source: FeedSource) -> None:
    """Fill a missing feed with what clients have on their screens. Four queries at most, none when it is there."""
    cursor = Cursor(STREAM_POSTS)
    found, kept = _from_feed(source, cursor)
    if found is not None or kept is None:
        return
    if not kept.present:
        record_presence(source.reader_id)
    _from_sql(source, cursor, kept)


def _load(source: FeedSource, cursor: Cursor) -> PostPage:
    found, kept = _from_feed(source, cursor)
    if kept is not None and not kept.present:
        # Before the feed is built: who is not marked as active is left out by the fan-out, and would miss posts.
        record_presence(source.reader_id)
        with redis.best_effort("shorten a feed"):
            feed.shorten(source.name)
    if found is not None:
        # What boosts were left out for is judged as well: what may no longer be shown decides nothing.
        ids = [item.id for item in found.page]
        page = _judged(source, [*dict.fromkeys([*ids, *(item.id for item in found.repeated)])], cursor)
        readable = {*page.ids}
        lost = [item for item in {*found.page, *found.repeated} if item.id not in readable]
        if not lost:
            wanted = {*ids}
            page.rows = [row for row in page.rows if row.id in wanted]
            return page
        # It leaves the feed; the page is asked for anew, else it would be short, or empty.
        with redis.best_effort("take posts out of a feed"):
            feed.remove({source.name: lost})
        withdraw_hidden_posts(source.reader_id, [item.id for item in lost], list_id=source.list_id)
    missing = kept if found is None else None
    return _judged(source, [item.id for item in _from_sql(source, cursor, missing).page], cursor)


def _from_feed(source: FeedSource, cursor: Cursor) -> tuple[FeedPage | None, Slice | None]:
    """The page, None if the feed does not hold what it takes, and what was first read of the feed; None when Redis does not
    answer."""
    slices: list[Slice] = []

    def read(wanted: Cursor) -> Stretch:
        slices.append(feed.read(source.name, source.reader_id, wanted))
        return Stretch(slices[-1].items, slices[-1].complete)

    found: FeedPage | None = None
    with redis.best_effort("read a feed"), suppress(NotHeldError):
        found = find_page(read, cursor)
    return found, slices[0] if slices else None


def _from_sql(source: FeedSource, cursor: Cursor, kept: Slice | None) -> FeedPage:
    """The page from SQL; what was read fills a missing feed, or lengthens one that ends inside or above the page."""
    if kept is None or not _fits(kept, cursor):
        return find_page(source.read, cursor)
    mark = None
    with redis.best_effort("build a feed"):
        mark = feed.begin(source.name)
    below = kept.lowest
    found = find_page(source.read, cursor, extra=FIRST_PAGE_MARGIN if below is None else NEXT_PAGES_MARGIN)
    if mark is not None:
        items = found.read if below is None else [item for item in found.read if item < below]
        with redis.best_effort("build a feed"):
            feed.finish(source.name, mark, items, below=below, complete=found.complete)
    return found


def _fits(kept: Slice, cursor: Cursor) -> bool:
    """Tell whether nothing lies between the feed and what SQL will read, and there is room for it."""
    if cursor.ascending or kept.size >= feed.EXTENDED_ITEMS_LIMIT:
        return False
    if kept.lowest is None:
        return cursor.before is None
    return bool(kept.items) or cursor.before == kept.lowest.id


def _judged(source: FeedSource, ids: Sequence[int], cursor: Cursor) -> PostPage:
    page = select(ids, source.reader_id, source.load_filter(ids))
    page.rows = cursor.newest_first(page.rows)
    return page


def forget_feeds(names: Collection[str], account_ids: Collection[int]) -> None:
    """Forget these feeds of these accounts; those of open streams are built again, and what a mute or a block has taken out
    is deleted from the streams. Nothing is read for people who are not listening. Raises RedisError.
    """
    held = [(source, load_held_ids(source)) for source in _open_feeds(account_ids) if source.name in names]
    feed.drop(names)
    # Asked once more: who has begun to listen meanwhile may have built the feed that is gone now.
    for source in _open_feeds(account_ids):
        rebuild(source)
    # Judged last. A mute of this moment, whose own turn comes later, finds a feed without the posts.
    for source, status_ids in held:
        withdraw_hidden_posts(source.reader_id, load_lost_ids(source, status_ids), list_id=source.list_id)


def build_open_feed(account_id: int, list_id: int | None = None) -> None:
    """Build the home feed, or that of a list, of somebody who opens its stream, if there is none: fan-out writes only to feeds
    that are there, and the stream shows more than the feed would know of. One command of Redis when it is there.
    """
    if list_id is None:
        rebuild(home_feed(account_id))
        return
    found = List.objects.filter(id=list_id, account_id=account_id).first()
    if found is not None:
        rebuild(list_feed(found))


def list_active() -> QuerySet[User]:
    """The people here who have a feed: those who were here in the last days."""
    seen = Coalesce("active_at", "created_at")
    return (
        User.objects.filter(account__deleted_at=None).alias(seen=seen).filter(seen__gt=feed.absent_before(clock.now()))
    )


def rebuild_feeds(accounts: Iterable[int]) -> Iterator[int]:
    """Build the home feeds of accounts of this server anew; yield each account whose feed is there. Raises RedisError."""
    for account_id in accounts:
        source = home_feed(account_id)
        feed.drop([source.name])
        rebuild(source)
        yield account_id


def _open_feeds(account_ids: Collection[int]) -> list[FeedSource]:
    """The home feeds of those of the accounts whose home stream somebody reads, and the feeds of such lists of theirs."""
    lists = {channels.of_list(found.id): found for found in List.objects.filter(account_id__one_of=account_ids)}
    homes = {channels.home(account_id): account_id for account_id in account_ids}
    subscribed = subscribed_channels([*homes, *lists])
    return [
        *(home_feed(account_id) for name, account_id in homes.items() if name in subscribed),
        *(list_feed(found) for name, found in lists.items() if name in subscribed),
    ]
