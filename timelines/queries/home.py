"""Reads a home timeline from SQL: what feeds do not hold, or have lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

from timelines.policies.aggregation import without_repeats
from timelines.policies.home import HOME_CONDITION, HOME_SETS
from timelines.stores.feed import WINDOW, FeedItem

# Of each author as many posts as the whole page may need, by the index (account, id), then the newest of all. One
# scan by id with the same condition would read the whole table for somebody who follows only quiet people.
_PAGE: Final = f"""
WITH {HOME_SETS}
SELECT post.id, post.reblog_of_id
  FROM sources source
 CROSS JOIN LATERAL (
   SELECT s.id, s.reblog_of_id
     FROM statuses_status s LEFT JOIN statuses_status o ON o.id = s.reblog_of_id
    WHERE s.account_id = source.id AND s.id < %(before)s AND s.id > %(after)s AND {HOME_CONDITION}
    ORDER BY s.id {{direction}} LIMIT %(count)s) post
 WHERE %(author)s::bigint IS NULL OR source.id = %(author)s
 ORDER BY post.id {{direction}} LIMIT %(count)s
"""  # noqa: S608
_DOWN: Final = _PAGE.format(direction="DESC")
_UP: Final = _PAGE.format(direction="ASC")
_NEWEST: Final = 2**63 - 1

SPARE: Final = 80
"""Posts read beyond a page, so that a feed that is being built begins with more than the page."""


@dataclass(frozen=True, slots=True)
class Window:
    """A page that is asked for: `count` posts between two ids (exclusive), the newest ones or the oldest ones."""

    count: int
    before: int | None = None
    after: int | None = None
    ascending: bool = False


def list_home_items(viewer_id: int, window: Window, *, author_id: int | None = None) -> list[FeedItem]:
    """Posts of the viewer's home timeline by the rule of `timelines.policies.home`, newest first or, when the window is
    ascending, oldest first. One query; repeated boosts are still in it. With `author_id` only that author's posts.
    """
    bounds = {
        "viewer": viewer_id,
        "author": author_id,
        "before": _NEWEST if window.before is None else window.before,
        "after": 0 if window.after is None else window.after,
        "count": window.count,
    }
    with connection.cursor() as cursor:
        cursor.execute(_UP if window.ascending else _DOWN, bounds)
        return [FeedItem(status_id, original or 0) for status_id, original in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Found:
    """A page as SQL has it, in the window's direction, and for a feed that is to be built all that was read.

    `complete`: `read` ends with the oldest post there is.
    """

    page: list[FeedItem]
    read: list[FeedItem]
    complete: bool


def find_home_page(viewer_id: int, window: Window) -> Found:
    """The page with repeated boosts left out, as far as the posts around it tell. One query, two when ascending.

    Which boosts are repeats depends on the forty items before; those are read too.
    """
    if window.ascending:
        earlier = list_home_items(viewer_id, Window(WINDOW, before=(window.after or 0) + 1))
        found = list_home_items(viewer_id, Window(window.count + WINDOW, window.before, window.after, ascending=True))
        known = set(earlier)
        kept = [item for item in without_repeats([*reversed(earlier), *found]) if item not in known]
        return Found(kept[: window.count], [], False)
    wanted = window.count + SPARE
    found = list_home_items(viewer_id, Window(wanted, window.before, window.after))
    kept = without_repeats(reversed(found))[::-1]
    return Found(kept[: window.count], kept, len(found) < wanted and not window.after)
