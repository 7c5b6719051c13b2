"""Reads a home timeline from SQL: what feeds do not hold, or have lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

from social.kernel import clock
from social.kernel.ids import first_at
from timelines.policies.aggregation import without_repeats
from timelines.policies.home import HOME_CONDITION, HOME_SETS
from timelines.stores.feed import WINDOW, FeedItem

# Of each author as many posts as the whole page may need, by the index (account, id), then the newest of all. One scan
# by id with the same condition would read the whole table for somebody who follows only quiet people.
_STAGE: Final = f"""
SELECT post.id, post.reblog_of_id
  FROM sources source
 CROSS JOIN LATERAL (
   SELECT s.id, s.reblog_of_id
     FROM statuses_status s
     LEFT JOIN statuses_status o ON o.id = s.reblog_of_id
     LEFT JOIN accounts_account boosted ON boosted.id = o.account_id
    WHERE s.account_id = source.id AND s.id >= %(from_<n>)s AND s.id < %(to_<n>)s AND {HOME_CONDITION}
    ORDER BY s.id <direction> LIMIT %(count)s) post
 ORDER BY post.id <direction> LIMIT %(count)s
"""  # noqa: S608

# In three steps away from where the page begins: who follows a thousand people finds a page among the posts of two
# days, and a step that is not needed costs nothing (a one-time filter).
_PAGE: Final = f"""
WITH {HOME_SETS},
near AS MATERIALIZED ({_STAGE.replace("<n>", "0")}),
middle AS MATERIALIZED (
  SELECT * FROM ({_STAGE.replace("<n>", "1")}) found WHERE (SELECT count(*) FROM near) < %(count)s
)
SELECT id, reblog_of_id FROM near
UNION ALL
SELECT id, reblog_of_id FROM middle
UNION ALL
SELECT id, reblog_of_id FROM ({_STAGE.replace("<n>", "2")}) found
 WHERE (SELECT count(*) FROM near) + (SELECT count(*) FROM middle) < %(count)s
 ORDER BY id <direction> LIMIT %(count)s
"""  # noqa: S608
_DOWN: Final = _PAGE.replace("<direction>", "DESC")
_UP: Final = _PAGE.replace("<direction>", "ASC")
_NEWEST: Final = 2**63 - 1
# Two days and thirty, as distances between ids (`social.kernel.ids`: milliseconds and sixteen bits).
_NEAR: Final = 2 * 86_400_000 << 16
_MIDDLE: Final = 15 * _NEAR

SPARE: Final = 80
"""Posts read beyond a page, so that a feed that is being built begins with more than the page."""


@dataclass(frozen=True, slots=True)
class Window:
    """A page that is asked for: `count` posts between two ids (exclusive), the newest ones or the oldest ones."""

    count: int
    before: int | None = None
    after: int | None = None
    ascending: bool = False


def list_home_items(viewer_id: int, window: Window) -> list[FeedItem]:
    """Posts of the viewer's home timeline by the rule of `timelines.policies.home`, newest first or, when the window is
    ascending, oldest first. One query; repeated boosts are still in it.
    """
    parameters = {"viewer": viewer_id, "count": window.count}
    for number, (first, end) in enumerate(_steps(window)):
        parameters |= {f"from_{number}": first, f"to_{number}": end}
    with connection.cursor() as cursor:
        cursor.execute(_UP if window.ascending else _DOWN, parameters)
        return [FeedItem(status_id, original or 0) for status_id, original in cursor.fetchall()]


def _steps(window: Window) -> list[tuple[int, int]]:
    """The window in three ranges of ids (first, end exclusive), from where the page begins to the far end."""
    first = 0 if window.after is None else window.after + 1
    end = _NEWEST if window.before is None else window.before
    start = first if window.ascending else min(end, first_at(clock.now()))
    near, middle = (
        max(first, min(end, start + step if window.ascending else start - step)) for step in (_NEAR, _MIDDLE)
    )
    if window.ascending:
        return [(first, near), (near, middle), (middle, end)]
    return [(near, end), (middle, near), (first, middle)]


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
