"""Answers home and list timelines: from the feed where it can, else completely from SQL, filling the feed on the way.

A feed that is missing (never built, a week without a look, FLUSHALL) or too short is never an error and never a partial
answer (contract, seed-coverage D-10). Every post is judged again when it is read, by the verdict that put it into the
feed: a block, a mute or a deletion takes effect at once, whether the feed was updated already or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from social.kernel import redis
from social.kernel.cursors import Cursor
from statuses.queries.page import Page, Verdict, select
from timelines.models import List
from timelines.policies.home import home_verdict
from timelines.policies.lists import list_verdict
from timelines.queries.home import FeedPage, TaggedPosts, find_feed_page, list_home_items
from timelines.queries.lists import list_list_items, load_concerned_members
from timelines.services.hiding import withdraw_hidden_posts
from timelines.services.presence import record_presence
from timelines.stores import feed
from timelines.stores.feed import FeedItem, Slice

ON_SCREEN: Final = 80
"""Posts that are kept for who reads a stream: two of the longest pages."""

SPARE: Final = 80
"""Posts read beyond the first page, so that a feed that is being built begins with more than that."""

AHEAD: Final = 320
"""Posts read beyond a page at the end of a feed. Whoever has come there goes on: with these in the feed the next fourteen pages
of twenty need no SQL to find them, which would cost each as much again as the page itself (docs/adr/0025).
"""


@dataclass(frozen=True, slots=True)
class FeedSource:
    """Where a timeline comes from: the name of its feed, its posts from SQL, and the verdict on posts that are read."""

    name: str
    reader_id: int
    list_items: Callable[[Cursor], list[FeedItem]]
    load_verdict: Callable[[Sequence[int]], Verdict]
    # None for the home timeline.
    list_id: int | None = None


def load_home_page(viewer_id: int, cursor: Cursor) -> Page:
    """The posts of the viewer's home timeline at the cursor, newest first: a full page if there are enough.

    From a feed two queries, three with posts that come by a hashtag, else one or two more; `statuses.queries.page.fill`
    adds what showing them takes. Redis may be absent. Marks the viewer as active, about twice a day.
    """
    return _load(home_feed(viewer_id), cursor)


def load_list_page(wanted: List, cursor: Cursor) -> Page:
    """The posts of a list at the cursor, newest first: a full page if there are enough. One query more than for
    `load_home_page`."""
    return _load(list_feed(wanted), cursor)


def home_feed(viewer_id: int) -> FeedSource:
    """Of the viewer's home timeline."""

    def load_verdict(status_ids: Sequence[int]) -> Verdict:
        tagged = TaggedPosts(viewer_id, status_ids)
        return lambda row, relations: home_verdict(row, relations, tagged, is_readable=True).delivered

    return FeedSource(feed.home(viewer_id), viewer_id, partial(list_home_items, viewer_id), load_verdict)


def list_feed(wanted: List) -> FeedSource:
    """Of a list's timeline."""

    def load_verdict(status_ids: Sequence[int]) -> Verdict:
        members = load_concerned_members(wanted.id, status_ids)
        policy = wanted.replies_policy
        return lambda row, relations: list_verdict(row, relations, policy, members, is_readable=True).delivered

    list_items = partial(list_list_items, wanted)
    return FeedSource(feed.of_list(wanted.id), wanted.account_id, list_items, load_verdict, wanted.id)


def load_held_ids(source: FeedSource) -> list[int]:
    """The posts that the feed holds, whether they may be shown or not. One command of Redis."""
    kept = _slice(source, Cursor(feed.MAX_ITEMS))
    return [] if kept is None else [item.id for item in kept.items]


def load_lost_ids(source: FeedSource, status_ids: Sequence[int]) -> list[int]:
    """Those of the posts that the timeline shows no more. Three queries."""
    shown = set(select(status_ids, source.reader_id, source.load_verdict(status_ids)).ids)
    return [status_id for status_id in status_ids if status_id not in shown]


def rebuild(source: FeedSource) -> None:
    """Fill a missing feed with what clients have on their screens. Four queries at most, none when it is there."""
    cursor = Cursor(ON_SCREEN)
    kept = _slice(source, cursor)
    if kept is None or kept.covered:
        return
    if not kept.present:
        record_presence(source.reader_id)
    _from_sql(source, cursor, kept)


def _load(source: FeedSource, cursor: Cursor) -> Page:
    kept = _slice(source, cursor)
    if kept is not None and not kept.present:
        # Before the feed is built: who is not marked as active is left out by the fan-out, and would miss posts.
        record_presence(source.reader_id)
        with redis.best_effort("shorten a feed"):
            feed.shorten(source.name)
    if kept is not None and kept.covered:
        page = _judged(source, kept.items, cursor)
        shown = set(page.ids)
        lost = [item for item in kept.items if item.id not in shown]
        if not lost:
            return page
        # What may no longer be shown leaves the feed; the page is asked for anew, else it would be short, or empty.
        with redis.best_effort("take posts out of a feed"):
            feed.remove({source.name: [item for item in lost if not item.original]})
            feed.drop_showing([source.name], [item for item in lost if item.original])
        withdraw_hidden_posts(source.reader_id, [item.id for item in lost], list_id=source.list_id)
    return _judged(source, _from_sql(source, cursor, kept).page, cursor)


def _slice(source: FeedSource, cursor: Cursor) -> Slice | None:
    """What the feed has of the page; None when Redis does not answer."""
    found: Slice | None = None
    with redis.best_effort("read a feed"):
        found = feed.read(source.name, source.reader_id, cursor)
    return found


def _from_sql(source: FeedSource, cursor: Cursor, kept: Slice | None) -> FeedPage:
    """The page from SQL; what was read fills a missing feed, or lengthens one that ends inside or above the page."""
    if kept is None or not _fits(kept, cursor):
        return find_feed_page(source.list_items, cursor)
    mark = None
    with redis.best_effort("build a feed"):
        mark = feed.begin(source.name)
    below = kept.lowest
    found = find_feed_page(source.list_items, cursor, spare=SPARE if below is None else AHEAD)
    if mark is not None:
        items = found.certain if below is None else [item for item in found.certain if item < below]
        with redis.best_effort("build a feed"):
            feed.finish(source.name, mark, items, below=below, complete=found.complete)
    return found


def _fits(kept: Slice, cursor: Cursor) -> bool:
    """Whether nothing lies between the feed and what SQL will read, and there is room for it."""
    if cursor.ascending or kept.covered or kept.size >= feed.LONGEST:
        return False
    if kept.lowest is None:
        return cursor.before is None
    return bool(kept.items) or cursor.before == kept.lowest.id


def _judged(source: FeedSource, items: Iterable[FeedItem], cursor: Cursor) -> Page:
    ids = [item.id for item in items]
    page = select(ids, source.reader_id, source.load_verdict(ids))
    page.rows = cursor.newest_first(page.rows)
    return page
