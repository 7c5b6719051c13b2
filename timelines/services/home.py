"""Loads home and list timelines: from the feed if possible, otherwise completely from SQL, filling the feed at the same time.

A feed that is missing or too short never causes an error or a partial page (contract, seed-coverage D-10). Every post is
checked again when it is read, so that a block, a mute or a deletion takes effect immediately. Feeds of open streams are kept,
because the feed records the posts that the stream has shown, which a mute or a block must withdraw.
"""

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
"""Number of posts in a feed that is built for a stream: two pages of maximum length."""

FIRST_PAGE_MARGIN: Final = 60
"""Number of posts that a new feed gets in addition to the first page and to the posts that decide about its boosts."""

NEXT_PAGES_MARGIN: Final = 280
"""Number of additional posts that are read at the end of a feed. A reader who gets there usually continues. Fourteen more pages
of twenty posts then need no SQL query, which costs as much as a page itself (docs/adr/0025).
"""


@dataclass(frozen=True, slots=True)
class FeedSource:
    """Source of a timeline: the name of its feed, the query of its posts, and `load_filter` to decide which posts are shown."""

    name: str
    reader_id: int
    list_items: Callable[[Cursor], list[FeedItem]]
    load_filter: Callable[[Sequence[int]], PostFilter]
    # Id of the list; None for the home timeline.
    list_id: int | None = None

    def read(self, cursor: Cursor) -> Stretch:
        """Return the posts at the cursor from SQL, including repeated boosts. Takes one query."""
        items = self.list_items(cursor)
        return Stretch(items, complete=len(items) < cursor.limit)


def load_home_page(viewer_id: int, cursor: Cursor) -> PostPage:
    """Return the posts of the viewer's home timeline at the cursor, newest first: a full page if there are enough posts. The
    caller must call `fill` on the page. Takes two queries when read from a feed, three with posts included by hashtag, and one
    or two more when read from SQL. Works without Redis. Marks the viewer as active, about twice a day.
    """
    return _load(home_feed(viewer_id), cursor)


def load_list_page(user_list: List, cursor: Cursor) -> PostPage:
    """Return the posts of a list at the cursor, as `load_home_page` does, with one more query."""
    return _load(list_feed(user_list), cursor)


def home_feed(viewer_id: int) -> FeedSource:
    """Return the source of the viewer's home timeline."""

    def load_filter(status_ids: Sequence[int]) -> PostFilter:
        tagged = TaggedPosts(viewer_id, status_ids)
        return lambda row, relations: home_verdict(row, relations, tagged, is_readable=True).delivered

    return FeedSource(feed.home(viewer_id), viewer_id, partial(list_home_items, viewer_id), load_filter)


def list_feed(user_list: List) -> FeedSource:
    """Return the source of a list's timeline."""

    def load_filter(status_ids: Sequence[int]) -> PostFilter:
        members = load_concerned_members(user_list.id, status_ids)
        policy = user_list.replies_policy
        return lambda row, relations: list_verdict(row, relations, policy, members, is_readable=True).delivered

    list_items = partial(list_list_items, user_list)
    return FeedSource(feed.of_list(user_list.id), user_list.account_id, list_items, load_filter, user_list.id)


def load_held_ids(source: FeedSource) -> list[int]:
    """Return the ids in the feed, including the ids of posts that may not be shown. Takes one Redis command."""
    feed_slice: Slice | None = None
    with redis.best_effort("read a feed"):
        feed_slice = feed.read(source.name, source.reader_id, Cursor(feed.MAX_ITEMS))
    return [] if feed_slice is None else [item.id for item in feed_slice.items]


def load_lost_ids(source: FeedSource, status_ids: Sequence[int]) -> list[int]:
    """Return the ids among `status_ids` of posts that the timeline no longer shows. Takes three queries."""
    shown_ids = set(select(status_ids, source.reader_id, source.load_filter(status_ids)).ids)
    return [status_id for status_id in status_ids if status_id not in shown_ids]


def rebuild(source: FeedSource) -> None:
    """Build the feed, unless it exists, from the newest posts, because these are the posts that clients may be displaying.
    Takes at most four queries.
    """
    cursor = Cursor(STREAM_POSTS)
    found, feed_slice = _from_feed(source, cursor)
    if found is not None or feed_slice is None:
        return
    if not feed_slice.present:
        record_presence(source.reader_id)
    _from_sql(source, cursor, feed_slice)


def _load(source: FeedSource, cursor: Cursor) -> PostPage:
    found, feed_slice = _from_feed(source, cursor)
    if feed_slice is not None and not feed_slice.present:
        # The user is marked as active before the feed is built, because fan-out skips inactive users, and the feed would lack
        # posts.
        record_presence(source.reader_id)
        with redis.best_effort("shorten a feed"):
            feed.shorten(source.name)
    if found is not None:
        # Posts that caused a boost to be left out are checked as well, because a post that may no longer be shown must not hide
        # a boost.
        ids = [item.id for item in found.page]
        page = _select_page(source, [*dict.fromkeys([*ids, *(item.id for item in found.repeated)])], cursor)
        readable = {*page.ids}
        lost = [item for item in {*found.page, *found.repeated} if item.id not in readable]
        if not lost:
            page_ids = {*ids}
            page.rows = [row for row in page.rows if row.id in page_ids]
            return page
        # Posts that may no longer be shown are removed from the feed, and the page is loaded again, so that it is not short.
        with redis.best_effort("take posts out of a feed"):
            feed.remove({source.name: lost})
        withdraw_hidden_posts(source.reader_id, [item.id for item in lost], list_id=source.list_id)
    missing_slice = feed_slice if found is None else None
    return _select_page(source, [item.id for item in _from_sql(source, cursor, missing_slice).page], cursor)


def _from_feed(source: FeedSource, cursor: Cursor) -> tuple[FeedPage | None, Slice | None]:
    # Returns a pair: the page (None if the feed lacks posts that the page needs), and the first slice read from the feed
    # (None if Redis does not respond).
    slices: list[Slice] = []

    def read(stretch_cursor: Cursor) -> Stretch:
        slices.append(feed.read(source.name, source.reader_id, stretch_cursor))
        return Stretch(slices[-1].items, slices[-1].complete)

    found: FeedPage | None = None
    with redis.best_effort("read a feed"), suppress(NotHeldError):
        found = find_page(read, cursor)
    return found, slices[0] if slices else None


def _from_sql(source: FeedSource, cursor: Cursor, feed_slice: Slice | None) -> FeedPage:
    # The posts read from SQL fill a missing feed, or extend a feed that ends inside or above the page.
    if feed_slice is None or not _follows_feed(feed_slice, cursor):
        return find_page(source.read, cursor)
    mark = None
    with redis.best_effort("build a feed"):
        mark = feed.begin(source.name)
    below = feed_slice.lowest
    found = find_page(source.read, cursor, extra=FIRST_PAGE_MARGIN if below is None else NEXT_PAGES_MARGIN)
    if mark is not None:
        items = found.read if below is None else [item for item in found.read if item < below]
        with redis.best_effort("build a feed"):
            feed.finish(source.name, mark, items, below=below, complete=found.complete)
    return found


def _follows_feed(feed_slice: Slice, cursor: Cursor) -> bool:
    """Tell whether the feed has room for the posts to be read from SQL, and whether they directly follow its last post."""
    if cursor.ascending or feed_slice.size >= feed.EXTENDED_ITEMS_LIMIT:
        return False
    if feed_slice.lowest is None:
        return cursor.before is None
    return bool(feed_slice.items) or cursor.before == feed_slice.lowest.id


def _select_page(source: FeedSource, ids: Sequence[int], cursor: Cursor) -> PostPage:
    page = select(ids, source.reader_id, source.load_filter(ids))
    page.rows = cursor.newest_first(page.rows)
    return page


def forget_feeds(names: Collection[str], account_ids: Collection[int]) -> None:
    """Drop these feeds. Build feeds with open streams again, and withdraw hidden posts from the streams. Raises RedisError."""
    held_ids = [(source, load_held_ids(source)) for source in _open_feeds(account_ids) if source.name in names]
    feed.drop(names)
    # The open feeds are determined again, because a stream opened meanwhile may have built the feed that has just been dropped.
    for source in _open_feeds(account_ids):
        rebuild(source)
    # Deletions are published last, so that they include posts hidden by a concurrent mute. That mute's event is handled later,
    # and does not find these posts in the feed any more.
    for source, status_ids in held_ids:
        withdraw_hidden_posts(source.reader_id, load_lost_ids(source, status_ids), list_id=source.list_id)


def build_open_feed(account_id: int, list_id: int | None = None) -> None:
    """Build the home feed, or the feed of the list `list_id`, unless it exists. Call it when an account opens the stream,
    because the feed records which posts the stream has shown. Takes one Redis command if the feed exists.
    """
    if list_id is None:
        rebuild(home_feed(account_id))
        return
    found = List.objects.filter(id=list_id, account_id=account_id).first()
    if found is not None:
        rebuild(list_feed(found))


def list_active() -> QuerySet[User]:
    """Select the local users who have a feed: users who were active in the last few days."""
    users = User.objects.filter(account__deleted_at=None).alias(seen=Coalesce("active_at", "created_at"))
    return users.filter(seen__gt=feed.absent_before(clock.now()))


def rebuild_feeds(accounts: Iterable[int]) -> Iterator[int]:
    """Rebuild the home feeds of local accounts, and yield each account after its feed was built. Raises RedisError."""
    for account_id in accounts:
        source = home_feed(account_id)
        feed.drop([source.name])
        rebuild(source)
        yield account_id


def _open_feeds(account_ids: Collection[int]) -> list[FeedSource]:
    """Return the sources of the accounts' home and list timelines whose streams have subscribers."""
    lists = {channels.of_list(found.id): found for found in List.objects.filter(account_id__one_of=account_ids)}
    homes = {channels.home(account_id): account_id for account_id in account_ids}
    subscribed = subscribed_channels([*homes, *lists])
    return [
        *(home_feed(account_id) for name, account_id in homes.items() if name in subscribed),
        *(list_feed(found) for name, found in lists.items() if name in subscribed),
    ]
