"""Reads home timelines, and what else is kept as a feed, from SQL: what feeds do not hold, or have lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Final

from social.kernel.cursors import Cursor
from social.kernel.statements import fetch
from statuses.policies.visibility import FOLLOWED
from timelines.policies.aggregation import judge_repeats, without_repeats
from timelines.policies.home import AUTHORS, BY_HASHTAG, HOME_CONDITION, HOME_SETS
from timelines.stores.feed import WINDOW, FeedItem

# A page is gathered in steps away from where it begins, until it is full or nothing is left. A step takes the next few posts
# that come into question by their ids alone, and asks the whole condition of these.
#
# While `budget` lasts, they come from the posts of everybody, one after the other by their id: as many as the reader follows
# people and hashtags, for that many reads it takes to ask each of them (docs/adr/0025). The last post looked at is always among
# them, so that the next step knows where to begin. After that each author and hashtag is asked, by the indexes (account, id)
# and (tag, status), within a stretch that holds two pages if posts are as dense there as in what has been walked through, and
# is at most twenty times as long. Two steps never look at the same post. The rows of a candidate are asked for one by one
# (OFFSET 0): a join invites plans that read whole tables, or all that the reader follows.
_PAGE: Final = """
WITH RECURSIVE <sets>,
walk (edge, origin, budget, candidates, found, ids, originals) AS (
  SELECT %(near)s,
         (SELECT id FROM statuses_status WHERE id <behind> %(near)s AND id <before> %(far)s ORDER BY id <direction> LIMIT 1),
         (SELECT LEAST(%(most)s, 40 + <followed>))::bigint, 0::bigint, 0::bigint, '{}'::bigint[], '{}'::bigint[]
  UNION ALL
  SELECT CASE WHEN asked.last IS NOT NULL AND (asked.number >= step.most OR asked.place >= w.budget AND w.budget > 0)
              THEN asked.last ELSE step.bound END,
         w.origin, CASE WHEN w.budget > 0 THEN w.budget - asked.place ELSE 0 END, w.candidates + asked.number,
         w.found + COALESCE(cardinality(shown.ids), 0), shown.ids, shown.originals
    FROM walk w
   CROSS JOIN LATERAL (
     SELECT %(limit)s - w.found AS wanted, (%(limit)s - w.found) * 5 / 4 + 10 + w.candidates AS most,
            CASE WHEN w.budget > 0 THEN %(far)s ELSE <nearer>(
              %(far)s, w.edge <away> LEAST(<newest>, GREATEST(abs(w.origin - w.edge), <hour>)
                              * LEAST(20, 2 * (%(limit)s - w.found) / (w.candidates + 0.5)))::bigint) END AS bound
     ) step
   CROSS JOIN LATERAL (
     SELECT array_agg(c.id ORDER BY c.id <direction>) AS ids, count(*) AS number, <furthest>(c.id) AS last,
            max(c.place) AS place
       FROM ((SELECT s.id, s.place
                FROM (SELECT x.id, x.account_id, row_number() OVER (ORDER BY x.id <direction>) AS place
                        FROM statuses_status x WHERE x.id <behind> w.edge AND x.id <before> %(far)s
                       ORDER BY x.id <direction> LIMIT w.budget) s
               WHERE w.budget > 0 AND (s.place = w.budget OR <of author>)
               ORDER BY s.id <direction> LIMIT step.most)
             UNION ALL
             (SELECT DISTINCT post.id, 0
                FROM (SELECT post.id FROM <authors> author
                       CROSS JOIN LATERAL (
                         SELECT x.id FROM statuses_status x
                          WHERE x.account_id = author.id AND x.id <behind> w.edge AND x.id <before> step.bound
                          ORDER BY x.id <direction> LIMIT step.most) post
                      <of hashtags>) post
               WHERE w.budget = 0
               ORDER BY post.id <direction> LIMIT step.most)) c
     ) asked
   CROSS JOIN LATERAL (
     SELECT array_agg(post.id) AS ids, array_agg(post.reblog_of_id) AS originals
       FROM (SELECT s.id, s.reblog_of_id
               FROM unnest(asked.ids) WITH ORDINALITY candidate (id, place)
              CROSS JOIN LATERAL (SELECT * FROM statuses_status x WHERE x.id = candidate.id OFFSET 0) s
              CROSS JOIN LATERAL (SELECT * FROM accounts_account x WHERE x.id = s.account_id OFFSET 0) author
               LEFT JOIN LATERAL (SELECT * FROM accounts_follow x
                                   WHERE x.account_id = %(viewer)s AND x.target_id = s.account_id OFFSET 0) source ON TRUE
               LEFT JOIN LATERAL (SELECT * FROM statuses_status x WHERE x.id = s.reblog_of_id OFFSET 0) o ON TRUE
               LEFT JOIN LATERAL (SELECT * FROM accounts_account x WHERE x.id = o.account_id OFFSET 0) boosted ON TRUE
              WHERE <condition>
              ORDER BY candidate.place LIMIT step.wanted) post
     ) shown
   WHERE w.found < %(limit)s AND w.origin IS NOT NULL AND w.edge <before> %(far)s
)
SELECT post.id, post.original FROM walk CROSS JOIN LATERAL unnest(walk.ids, walk.originals) post (id, original)
 ORDER BY post.id <direction>
"""
# Every value stands in a SELECT, and is unknown to the planner: else it finds a plan for somebody who follows few people, or
# for a place, that looks cheaper than the one for all, and plans each page anew, for several times what the page costs
# (docs/adr/0011).
_VALUE: Final = re.compile(r"%\((\w+)\)s")
_DOWN: Final = {"direction": "DESC", "behind": "<", "before": ">", "away": "-", "nearer": "GREATEST", "furthest": "min"}
_UP: Final = {"direction": "ASC", "behind": ">", "before": "<", "away": "+", "nearer": "LEAST", "furthest": "max"}


@dataclass(frozen=True, slots=True)
class FeedStatement:
    """The SQL of a feed's page in both directions: of posts that meet a condition, for a reader or a list."""

    down: str
    up: str

    @classmethod
    def of(
        cls, *, sets: str, authors: str, followed: str, of_author: str, condition: str, of_hashtags: str = ""
    ) -> FeedStatement:
        """`sets` begins a WITH; `authors` is the one of them that holds whose posts come into question, and `followed` how
        many they are, roughly. `of_author` says whether a post `s` is by one of them, `condition` which of these are shown.
        `of_hashtags` adds posts that come another way.
        """
        parts = {
            "sets": sets,
            "authors": authors,
            "followed": followed,
            "of author": of_author,
            "condition": condition,
            "of hashtags": of_hashtags,
            "hour": str(_HOUR),
            "newest": str(_NEWEST),
        }

        def filled(words: dict[str, str]) -> str:
            page = _PAGE
            for name, text in (parts | words).items():
                page = page.replace(f"<{name}>", text)
            return _VALUE.sub(r"(SELECT \g<0>::bigint)", page)

        return cls(filled(_DOWN), filled(_UP))


# As a distance between ids (`social.kernel.ids`: milliseconds and sixteen bits).
_HOUR: Final = 3_600_000 << 16
# Above every id for a thousand years; twice this is still a bigint.
_NEWEST: Final = 2**61

_FOLLOWS_HASHTAGS: Final = "EXISTS (SELECT 1 FROM accounts_tagfollow WHERE account_id = %(viewer)s)"
_HAS_FOLLOWED_HASHTAG: Final = f"""
{_FOLLOWS_HASHTAGS} AND EXISTS (
  SELECT 1 FROM statuses_statustag t WHERE t.status_id = s.id AND t.status_id > (
    SELECT f.id FROM accounts_tagfollow f WHERE f.tag_id = t.tag_id AND f.account_id = %(viewer)s))
"""  # noqa: S608 (constants)
_OF_HASHTAGS: Final = """
UNION ALL
SELECT post.status_id FROM accounts_tagfollow f
 CROSS JOIN LATERAL (
   SELECT t.status_id FROM statuses_statustag t
    WHERE t.tag_id = f.tag_id AND t.status_id > f.id AND t.status_id <behind> w.edge AND t.status_id <before> step.bound
    ORDER BY t.status_id <direction> LIMIT step.most) post
 WHERE f.account_id = %(viewer)s
"""

_HOME: Final = FeedStatement.of(
    sets=f"{HOME_SETS}, {AUTHORS}",
    authors="authors",
    followed="""COALESCE((SELECT following_count FROM accounts_accountstat WHERE account_id = %(viewer)s), 0)
      + (SELECT count(*) FROM accounts_tagfollow WHERE account_id = %(viewer)s)""",
    of_author=f"""s.account_id = %(viewer)s OR {FOLLOWED.format(author="s.account_id")} OR ({_HAS_FOLLOWED_HASHTAG})""",
    condition=f"""({HOME_CONDITION})
      OR ({_HAS_FOLLOWED_HASHTAG} AND {BY_HASHTAG})""",
    of_hashtags=_OF_HASHTAGS,
)
# Most posts of everybody that are looked at for a page.
_MOST: Final = 2000


def list_home_items(viewer_id: int, cursor: Cursor) -> list[FeedItem]:
    """Posts of the viewer's home timeline by the rule of `timelines.policies.home`, newest first or, when the cursor is
    ascending, oldest first. One query; repeated boosts are still in it.
    """
    return read_items(_HOME, cursor, viewer=viewer_id)


def read_items(statement: FeedStatement, cursor: Cursor, **parameters: int) -> list[FeedItem]:
    """The posts of a feed at the cursor, in its direction. One query; repeated boosts are still in it."""
    low = 0 if cursor.after is None else min(cursor.after, _NEWEST)
    high = _NEWEST if cursor.before is None else min(cursor.before, _NEWEST)
    near, far = (low, high) if cursor.ascending else (high, low)
    values = {**parameters, "limit": cursor.limit, "most": _MOST, "near": near, "far": far}
    found = fetch(statement.up if cursor.ascending else statement.down, values)
    return [FeedItem(status_id, original or 0) for status_id, original in found]


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page as SQL has it, in the cursor's direction, and for a feed what was read with it, the newest first.

    In `certain` it is known of every boost whether it is a repeat (but for the case that `find_feed_page` names). `complete`:
    it ends with the oldest post there is.
    """

    page: list[FeedItem]
    certain: list[FeedItem]
    complete: bool


# Posts read beyond a page: with three boosts among ten posts forty of so many are nearly always shown for certain.
_SPARE: Final = 60
# Posts that are read at once where boosts could not be judged, and most of them.
_STEP: Final = 60
_FURTHER: Final = 800


def find_feed_page(list_items: Callable[[Cursor], list[FeedItem]], cursor: Cursor, *, spare: int = _SPARE) -> FeedPage:
    """The page with repeated boosts left out, judged by the posts around it. One query, two when ascending; more where boosts
    follow each other so closely that it takes further posts to judge those of the page, `_FURTHER` at most: after that, and
    only then, a boost may be taken for the first one that is not.

    `spare`: posts read beyond the page. Which boosts are repeats depends on `WINDOW` older items that are shown, which are
    read also where they are not asked for.
    """
    return _find_up(list_items, cursor) if cursor.ascending else _find_down(list_items, cursor, spare)


def _find_down(list_items: Callable[[Cursor], list[FeedItem]], cursor: Cursor, spare: int) -> FeedPage:
    wanted, after = cursor.limit + spare, cursor.after or 0
    found = list_items(Cursor(wanted, cursor.before))
    complete = len(found) < wanted
    while True:
        judged = judge_repeats(found[::-1], complete=complete)[::-1]
        page, decided = _page_of((each for each in judged if each[0].id > after), cursor.limit)
        ended = complete or len(page) == cursor.limit or found[-1].id <= after
        if (decided and ended) or len(found) >= wanted + _FURTHER:
            break
        more = list_items(Cursor(_STEP, found[-1].id))
        complete = len(more) < _STEP
        found += more
    if decided:
        certain = [item for item, shown in takewhile(lambda each: each[1] is not None, judged) if shown]
        return FeedPage(page, certain, complete)
    kept = without_repeats(reversed(found))[::-1]
    page = [item for item in kept if item.id > after][: cursor.limit]
    return FeedPage(page, [item for item in kept if item > found[-WINDOW]], complete=False)


def _find_up(list_items: Callable[[Cursor], list[FeedItem]], cursor: Cursor) -> FeedPage:
    wanted = cursor.limit + WINDOW
    earlier = list_items(Cursor(WINDOW, before=(cursor.after or 0) + 1))
    found = list_items(replace(cursor, limit=wanted))
    lowest, highest = len(earlier) < WINDOW, len(found) < wanted
    while True:
        judged = judge_repeats([*reversed(earlier), *found], complete=lowest)[len(earlier) :]
        page, decided = _page_of(judged, cursor.limit)
        if (decided and (highest or len(page) == cursor.limit)) or len(earlier) + len(found) >= wanted + _FURTHER:
            break
        if decided:
            more = list_items(replace(cursor, limit=_STEP, after=found[-1].id))
            highest = len(more) < _STEP
            found += more
        else:
            more = list_items(Cursor(_STEP, before=earlier[-1].id))
            lowest = len(more) < _STEP
            earlier += more
    if not decided:
        below = set(earlier)
        kept = without_repeats([*reversed(earlier), *found])
        page = [item for item in kept if item not in below][: cursor.limit]
    return FeedPage(page, [], complete=False)


def _page_of(judged: Iterable[tuple[FeedItem, bool | None]], limit: int) -> tuple[list[FeedItem], bool]:
    """The first items that are shown, and whether that is known of each."""
    page = list(islice((each for each in judged if each[1] is not False), limit))
    return [item for item, _shown in page], all(shown for _item, shown in page)


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
