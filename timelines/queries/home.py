"""Reads home timelines, and what else is kept as a feed, from SQL: what feeds do not hold, or have lost."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Final

from social.kernel import clock
from social.kernel.cursors import Cursor
from social.kernel.ids import first_at
from social.kernel.statements import fetch
from timelines.policies.aggregation import without_repeats
from timelines.policies.home import (
    BY_HASHTAG,
    HOME_CONDITION,
    HOME_SETS,
    SOURCE_OF_POST,
    SOURCES,
)
from timelines.stores.feed import WINDOW, FeedItem

# Of each author as many posts as the whole page may need, by the index (account, id), then the newest of all. One scan
# by id with the same condition would read the whole table for somebody who follows only quiet people.
_OF_SOURCES: Final = """
SELECT post.id, post.reblog_of_id
  FROM sources source
 CROSS JOIN LATERAL (
   SELECT s.id, s.reblog_of_id
     FROM statuses_status s
     LEFT JOIN statuses_status o ON o.id = s.reblog_of_id
     LEFT JOIN accounts_account boosted ON boosted.id = o.account_id
    WHERE s.account_id = source.id AND s.id >= %(from_<n>)s AND s.id < %(to_<n>)s AND <condition>
    ORDER BY s.id <direction> LIMIT %(limit)s) post
 ORDER BY post.id <direction> LIMIT %(limit)s
"""

# The same for each followed hashtag, by the index (tag, status). The post is found by its key, in a subquery of one value:
# a join invites plans that read every public post. A post with several of them takes the place of one.
_OF_HASHTAGS: Final = f"""
SELECT DISTINCT post.status_id, NULL::bigint
  FROM accounts_tagfollow f
 CROSS JOIN LATERAL (
   SELECT t.status_id FROM statuses_statustag t
    WHERE t.tag_id = f.tag_id AND t.status_id > f.id AND t.status_id >= %(from_<n>)s AND t.status_id < %(to_<n>)s
      AND (SELECT {BY_HASHTAG} FROM statuses_status s WHERE s.id = t.status_id)
    ORDER BY t.status_id <direction> LIMIT %(limit)s) post
 WHERE f.account_id = %(viewer)s
 ORDER BY post.status_id <direction> LIMIT %(limit)s
"""  # noqa: S608 (constants)

# The posts of everybody next to where the page begins, one after the other by their id until the page is full: as many as
# the viewer follows people and hashtags, for that many reads it takes to ask each of them.
_OF_ALL: Final = f"""
SELECT s.id, s.reblog_of_id
  FROM (SELECT * FROM statuses_status WHERE id >= %(first)s AND id < %(end)s ORDER BY id <direction>
         LIMIT (SELECT LEAST(%(most)s, (SELECT count(*) FROM accounts_follow WHERE account_id = %(viewer)s)
                                     + (SELECT count(*) FROM accounts_tagfollow WHERE account_id = %(viewer)s)))) s
  LEFT JOIN LATERAL ({SOURCE_OF_POST}) source ON TRUE
  LEFT JOIN statuses_status o ON o.id = s.reblog_of_id
  LEFT JOIN accounts_account boosted ON boosted.id = o.account_id
 WHERE (source.show_reblogs IS NOT NULL AND {HOME_CONDITION})
    OR (EXISTS (SELECT 1 FROM accounts_tagfollow WHERE account_id = %(viewer)s)
        AND EXISTS (SELECT 1 FROM statuses_statustag t WHERE t.status_id = s.id AND t.status_id > (
              SELECT f.id FROM accounts_tagfollow f WHERE f.tag_id = t.tag_id AND f.account_id = %(viewer)s))
        AND {BY_HASHTAG})
 ORDER BY s.id <direction> LIMIT %(limit)s
"""  # noqa: S608 (constants)

# In three steps away from where the page begins: who follows a thousand people finds a page among the posts of two
# days, and a step that is not needed costs nothing (a one-time filter). Before them, where it is given, a look at the posts of
# all, which counts if it fills the page.
_PAGE: Final = """
WITH <sets>,
newest AS MATERIALIZED (<all>),
near AS MATERIALIZED (
  SELECT * FROM (<stage 0>) found WHERE (SELECT count(*) FROM newest) < %(limit)s
),
middle AS MATERIALIZED (
  SELECT * FROM (<stage 1>) found
   WHERE (SELECT count(*) FROM newest) < %(limit)s AND (SELECT count(*) FROM near) < %(limit)s
)
SELECT id, reblog_of_id FROM newest WHERE (SELECT count(*) FROM newest) >= %(limit)s
UNION ALL
SELECT id, reblog_of_id FROM near
UNION ALL
SELECT id, reblog_of_id FROM middle
UNION ALL
SELECT id, reblog_of_id FROM (<stage 2>) found
 WHERE (SELECT count(*) FROM newest) < %(limit)s
   AND (SELECT count(*) FROM near) + (SELECT count(*) FROM middle) < %(limit)s
 ORDER BY id <direction> LIMIT %(limit)s
"""
_NOTHING: Final = "SELECT NULL::bigint AS id, NULL::bigint AS reblog_of_id WHERE FALSE"


@dataclass(frozen=True, slots=True)
class FeedStatement:
    """The SQL of a feed's page in both directions: for authors in the CTE `sources`, of posts that meet a condition."""

    down: str
    up: str

    @classmethod
    def of(cls, sets: str, condition: str, *, of_all: str = _NOTHING, of_hashtags: str | None = None) -> FeedStatement:
        """`sets` begins a WITH that ends with `sources`. `of_all` finds the page among the posts of everybody, if they are
        many there; `of_hashtags` is read besides the authors.
        """
        stage = _OF_SOURCES.replace("<condition>", condition)
        if of_hashtags is not None:
            # UNION: what comes both ways comes once.
            stage = f"({stage}) UNION ({of_hashtags}) ORDER BY id <direction> LIMIT %(limit)s"
        page = _PAGE.replace("<sets>", sets).replace("<all>", of_all)
        for number in range(3):
            page = page.replace(f"<stage {number}>", stage.replace("<n>", str(number)))
        return cls(page.replace("<direction>", "DESC"), page.replace("<direction>", "ASC"))


_HOME: Final = FeedStatement.of(f"{HOME_SETS}, {SOURCES}", HOME_CONDITION, of_all=_OF_ALL, of_hashtags=_OF_HASHTAGS)
# Most posts of everybody that are looked at for a page.
_MOST: Final = 2000
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
    return read_items(_HOME, cursor, viewer=viewer_id)


def read_items(statement: FeedStatement, cursor: Cursor, **parameters: int) -> list[FeedItem]:
    """The posts of a feed at the cursor, in its direction. One query; repeated boosts are still in it."""
    values = {**parameters, "limit": cursor.limit, "most": _MOST, "first": _first(cursor), "end": _end(cursor)}
    for number, (first, end) in enumerate(_steps(cursor)):
        values |= {f"from_{number}": first, f"to_{number}": end}
    found = fetch(statement.up if cursor.ascending else statement.down, values)
    return [FeedItem(status_id, original or 0) for status_id, original in found]


def _first(cursor: Cursor) -> int:
    return 0 if cursor.after is None else cursor.after + 1


def _end(cursor: Cursor) -> int:
    return _NEWEST if cursor.before is None else cursor.before


def _steps(cursor: Cursor) -> list[tuple[int, int]]:
    """The cursor's range in three parts of ids (first, end exclusive), from where the page begins to the far end."""
    first, end = _first(cursor), _end(cursor)
    start = first if cursor.ascending else min(end, first_at(clock.now()))
    near, middle = (
        max(first, min(end, start + step if cursor.ascending else start - step)) for step in (_NEAR, _MIDDLE)
    )
    if cursor.ascending:
        return [(first, near), (near, middle), (middle, end)]
    return [(near, end), (middle, near), (first, middle)]


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page as SQL has it, in the cursor's direction, and for a feed that is to be built all that was read.

    `complete`: `read` ends with the oldest post there is.
    """

    page: list[FeedItem]
    read: list[FeedItem]
    complete: bool


def find_feed_page(list_items: Callable[[Cursor], list[FeedItem]], cursor: Cursor, *, spare: int = WINDOW) -> FeedPage:
    """The page with repeated boosts left out, judged by the posts around it, and `spare` posts more (`WINDOW` at least).
    One query, two when ascending.

    Which boosts are repeats depends on the forty items before; those are read too.
    """
    if cursor.ascending:
        earlier = list_items(Cursor(WINDOW, before=(cursor.after or 0) + 1))
        found = list_items(Cursor(cursor.limit + WINDOW, cursor.before, cursor.after, ascending=True))
        known = set(earlier)
        kept = [item for item in without_repeats([*reversed(earlier), *found]) if item not in known]
        return FeedPage(kept[: cursor.limit], [], False)
    wanted = cursor.limit + spare
    found = list_items(Cursor(wanted, cursor.before, cursor.after))
    kept = without_repeats(reversed(found))[::-1]
    return FeedPage(kept[: cursor.limit], kept, len(found) < wanted and not cursor.after)


class TaggedPosts(Container[int]):
    """Those of some posts that carry a hashtag which the viewer followed before they were written.

    Read by one query when it is asked for the first time: most pages never ask.
    """

    def __init__(self, viewer_id: int, status_ids: Sequence[int]) -> None:
        self._viewer_id, self._asked = viewer_id, status_ids
        self._found: set[int] | None = None

    def __contains__(self, status_id: object) -> bool:
        if self._found is None:
            rows = fetch(_TAGGED, {"viewer": self._viewer_id, "ids": list(self._asked)})
            self._found = {found for (found,) in rows}
        return status_id in self._found


_TAGGED: Final = """
SELECT t.status_id FROM accounts_tagfollow f JOIN statuses_statustag t ON t.tag_id = f.tag_id
 WHERE f.account_id = %(viewer)s AND t.status_id = ANY((SELECT %(ids)s)::bigint[]) AND t.status_id > f.id
"""
