"""Answers home timelines: from the feed where it can, else completely from SQL, filling the feed on the way.

A feed that is missing (never built, a week without a look, FLUSHALL) or too short is never an error and never a partial
answer (contract, seed-coverage D-10). Every post is judged again when it is read, by the verdict that let it into the
feed: a block, a mute or a deletion takes effect at once, whether the feed has heard of it or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from accounts.policies.relations import Relations
from social.kernel import redis
from social.kernel.cursors import Cursor
from statuses.queries.page import Page, select
from statuses.queries.rows import Row
from timelines.policies.home import home_verdict
from timelines.queries.home import HomePage, find_home_page
from timelines.services.presence import record_presence
from timelines.stores import feed
from timelines.stores.feed import FeedItem, Slice


def load_home_page(viewer_id: int, cursor: Cursor) -> Page:
    """The posts of the viewer's home timeline at the cursor, newest first: a full page if there are enough.

    From a feed two queries, else three or four; `statuses.queries.page.fill` adds what showing them takes. Redis may be
    absent. Marks the viewer as active, about twice a day.
    """
    name = feed.home(viewer_id)
    kept = _slice(viewer_id, cursor)
    if kept is not None and not kept.present:
        # Before the feed is built: who is not marked as active is left out by the fan-out, and would miss posts.
        record_presence(viewer_id)
    if kept is not None and kept.covered:
        page = _judged(viewer_id, kept.items, cursor)
        shown = set(page.ids)
        lost = [item for item in kept.items if item.id not in shown]
        if not lost:
            return page
        # What may no longer be shown leaves the feed; the page is asked for anew, else it would be short, or empty.
        with redis.best_effort("take posts out of a feed"):
            feed.remove({name: [item for item in lost if not item.original]})
            feed.drop_showing([name], [item for item in lost if item.original])
    return _judged(viewer_id, _from_sql(viewer_id, cursor, kept).page, cursor)


def _slice(viewer_id: int, cursor: Cursor) -> Slice | None:
    """What the feed has of the page; None when Redis does not answer."""
    found: Slice | None = None
    with redis.best_effort("read a feed"):
        found = feed.read(feed.home(viewer_id), viewer_id, cursor)
    return found


def _from_sql(viewer_id: int, cursor: Cursor, kept: Slice | None) -> HomePage:
    """The page from SQL; what was read fills a missing feed, or lengthens one that ends inside or above the page."""
    if kept is None or not _fits(kept, cursor):
        return find_home_page(viewer_id, cursor)
    mark = None
    with redis.best_effort("build a feed"):
        mark = feed.begin(feed.home(viewer_id))
    found = find_home_page(viewer_id, cursor)
    if mark is not None:
        below = kept.lowest
        items = found.read if below is None else [item for item in found.read if item < below]
        with redis.best_effort("build a feed"):
            feed.finish(feed.home(viewer_id), mark, items, below=below, complete=found.complete)
    return found


def _fits(kept: Slice, cursor: Cursor) -> bool:
    """Whether nothing lies between the feed and what SQL will read."""
    if cursor.ascending or kept.covered:
        return False
    if kept.lowest is None:
        return cursor.before is None
    return bool(kept.items) or cursor.before == kept.lowest.id


def _judged(viewer_id: int, items: Iterable[FeedItem], cursor: Cursor) -> Page:
    page = select([item.id for item in items], viewer_id, _is_shown)
    page.rows = cursor.newest_first(page.rows)
    return page


def _is_shown(row: Row, relations: Relations) -> bool:
    return home_verdict(row, relations).delivered
