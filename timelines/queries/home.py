"""Reads a home timeline from SQL: what feeds do not hold, or have lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import connection

from social.kernel import clock
from social.kernel.cursors import Cursor
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
    ORDER BY s.id <direction> LIMIT %(limit)s) post
 ORDER BY post.id <direction> LIMIT %(limit)s
"""  # noqa: S608 (constants)

# In three steps away from where the page begins: who follows a thousand people finds a page among the posts of two
# days, and a step that is not needed costs nothing (a one-time filter).
_PAGE: Final = f"""
WITH {HOME_SETS},
near AS MATERIALIZED ({_STAGE.replace("<n>", "0")}),
middle AS MATERIALIZED (
  SELECT * FROM ({_STAGE.replace("<n>", "1")}) found WHERE (SELECT count(*) FROM near) < %(limit)s
)
SELECT id, reblog_of_id FROM near
UNION ALL
SELECT id, reblog_of_id FROM middle
UNION ALL
SELECT id, reblog_of_id FROM ({_STAGE.replace("<n>", "2")}) found
 WHERE (SELECT count(*) FROM near) + (SELECT count(*) FROM middle) < %(limit)s
 ORDER BY id <direction> LIMIT %(limit)s
"""  # noqa: S608 (constants)
_DOWN: Final = _PAGE.replace("<direction>", "DESC")
_UP: Final = _PAGE.replace("<direction>", "ASC")
_NEWEST: Final = 2**63 - 1
# Two days and thirty, as distances between ids (`social.kernel.ids`: milliseconds and sixteen bits).
_NEAR: Final = 2 * 86_400_000 << 16
_MIDDLE: Final = 15 * _NEAR

SPARE: Final = 80
"""Posts read beyond a page, so that a feed that is being built begins with more than the page."""


def list_home_items(viewer_id: int, cursor: Cursor) -> list[FeedItem]:
    """Posts of the viewer's home timeline by the rule of `timelines.policies.home`, newest first or, when the cursor is
    ascending, oldest first. One query; repeated boosts are still in it.
    """
    parameters = {"viewer": viewer_id, "limit": cursor.limit}
    for number, (first, end) in enumerate(_steps(cursor)):
        parameters |= {f"from_{number}": first, f"to_{number}": end}
    with connection.cursor() as statement:
        statement.execute(_UP if cursor.ascending else _DOWN, parameters)
        return [FeedItem(status_id, original or 0) for status_id, original in statement.fetchall()]


def _steps(cursor: Cursor) -> list[tuple[int, int]]:
    """The cursor's range in three parts of ids (first, end exclusive), from where the page begins to the far end."""
    first = 0 if cursor.after is None else cursor.after + 1
    end = _NEWEST if cursor.before is None else cursor.before
    start = first if cursor.ascending else min(end, first_at(clock.now()))
    near, middle = (
        max(first, min(end, start + step if cursor.ascending else start - step)) for step in (_NEAR, _MIDDLE)
    )
    if cursor.ascending:
        return [(first, near), (near, middle), (middle, end)]
    return [(near, end), (middle, near), (first, middle)]


@dataclass(frozen=True, slots=True)
class HomePage:
    """A page as SQL has it, in the cursor's direction, and for a feed that is to be built all that was read.

    `complete`: `read` ends with the oldest post there is.
    """

    page: list[FeedItem]
    read: list[FeedItem]
    complete: bool


def find_home_page(viewer_id: int, cursor: Cursor) -> HomePage:
    """The page with repeated boosts left out, as far as the posts around it tell. One query, two when ascending.

    Which boosts are repeats depends on the forty items before; those are read too.
    """
    if cursor.ascending:
        earlier = list_home_items(viewer_id, Cursor(WINDOW, before=(cursor.after or 0) + 1))
        found = list_home_items(viewer_id, Cursor(cursor.limit + WINDOW, cursor.before, cursor.after, ascending=True))
        known = set(earlier)
        kept = [item for item in without_repeats([*reversed(earlier), *found]) if item not in known]
        return HomePage(kept[: cursor.limit], [], False)
    wanted = cursor.limit + SPARE
    found = list_home_items(viewer_id, Cursor(wanted, cursor.before, cursor.after))
    kept = without_repeats(reversed(found))[::-1]
    return HomePage(kept[: cursor.limit], kept, len(found) < wanted and not cursor.after)
