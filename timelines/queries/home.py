"""Reads home timelines, and other timelines with a feed, from SQL, when the feed is missing or incomplete."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from accounts.policies.audience import VIEWER_SETS
from accounts.policies.relations import FOLLOWED
from social.kernel.cursors import Cursor
from social.kernel.statements import rows_of
from statuses.policies.audience import FOLLOWED_HASHTAG
from timelines.policies.feeds import AUTHORS, HOME_CONDITION
from timelines.stores.feed import FeedItem

# A page is gathered in steps from its start, until it is full or no posts are left. A step takes the next few candidates
# by their ids alone, and evaluates the whole condition for these candidates.
#
# While `budget` lasts, the candidates come from a scan of all posts by id. The budget is about the number of accounts and
# hashtags that the reader follows, because querying each of these takes about as many reads (docs/adr/0025). The last scanned
# post is always a candidate, so that the next step knows where to start. After the budget is spent, each author and hashtag is
# queried through the indexes (account, id) and (tag, status). The range of ids contains two pages if posts are as dense there
# as in the part read so far, and is at most twenty times as long as that part. No post is read in more than one step. The rows
# of each candidate are read separately (OFFSET 0), because a join leads to plans that read whole tables, or everything that the
# reader follows.
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
# Every value is wrapped in a SELECT, so that the planner does not know it. Otherwise a plan for a reader with few follows, or
# for a certain id, would look cheaper than the generic plan. Each page would then be planned again, which costs several times
# as much as the page itself (docs/adr/0011).
_VALUE: Final = re.compile(r"%\((\w+)\)s")
_DESCENDING: Final = {
    "direction": "DESC",
    "behind": "<",
    "before": ">",
    "away": "-",
    "nearer": "GREATEST",
    "furthest": "min",
}
_ASCENDING: Final = {
    "direction": "ASC",
    "behind": ">",
    "before": "<",
    "away": "+",
    "nearer": "LEAST",
    "furthest": "max",
}


@dataclass(frozen=True, slots=True)
class FeedStatement:
    """SQL of a feed's page in both directions: posts that satisfy a condition, for a reader or a list."""

    down: str
    up: str

    @classmethod
    def of(
        cls, *, sets: str, authors: str, followed: str, of_author: str, condition: str, of_hashtags: str = ""
    ) -> "FeedStatement":
        """Build the statements. `sets` are the first parts of the WITH clause; `authors` is the name of the part with the
        possible authors, and `followed` their approximate number. `of_author` is the condition that one of these authors
        wrote a post `s`, and `condition` decides which of these posts are shown. `of_hashtags` adds posts included by
        hashtags.
        """
        parts = {
            "sets": sets,
            "authors": authors,
            "followed": followed,
            "of author": of_author,
            "condition": condition,
            "of hashtags": of_hashtags,
            "hour": str(_HOUR_OF_IDS),
            "newest": str(_HIGHEST_ID),
        }

        def filled(words: dict[str, str]) -> str:
            page = _PAGE
            for name, text in (parts | words).items():
                page = page.replace(f"<{name}>", text)
            return _VALUE.sub(r"(SELECT \g<0>::bigint)", page)

        return cls(filled(_DESCENDING), filled(_ASCENDING))


# Difference between ids whose times are one hour apart (an id is the time in milliseconds and sixteen more bits;
# `social.kernel.ids`).
_HOUR_OF_IDS: Final = 3_600_000 << 16
# Higher than every id for a thousand years; twice this value still fits into a bigint.
_HIGHEST_ID: Final = 2**61

_TAG_FOLLOW_CONDITION: Final = "EXISTS (SELECT 1 FROM accounts_tagfollow WHERE account_id = %(viewer)s)"
_FOLLOWED_HASHTAG_CONDITION: Final = f"""
{_TAG_FOLLOW_CONDITION} AND EXISTS (
  SELECT 1 FROM statuses_statustag t WHERE t.status_id = s.id AND t.status_id > (
    SELECT f.id FROM accounts_tagfollow f WHERE f.tag_id = t.tag_id AND f.account_id = %(viewer)s))
"""  # noqa: S608 (constants)
_HASHTAG_POSTS: Final = """
UNION ALL
SELECT post.status_id FROM accounts_tagfollow f
 CROSS JOIN LATERAL (
   SELECT t.status_id FROM statuses_statustag t
    WHERE t.tag_id = f.tag_id AND t.status_id > f.id AND t.status_id <behind> w.edge AND t.status_id <before> step.bound
    ORDER BY t.status_id <direction> LIMIT step.most) post
 WHERE f.account_id = %(viewer)s
"""

_HOME_STATEMENT: Final = FeedStatement.of(
    sets=f"{VIEWER_SETS}, {AUTHORS}",
    authors="authors",
    followed="""COALESCE((SELECT following_count FROM accounts_accountstat WHERE account_id = %(viewer)s), 0)
      + (SELECT count(*) FROM accounts_tagfollow WHERE account_id = %(viewer)s)""",
    of_author=f"""s.account_id = %(viewer)s OR {FOLLOWED.format(author="s.account_id")} OR ({_FOLLOWED_HASHTAG_CONDITION})""",
    condition=f"""({HOME_CONDITION})
      OR ({_FOLLOWED_HASHTAG_CONDITION} AND {FOLLOWED_HASHTAG.sql()})""",
    of_hashtags=_HASHTAG_POSTS,
)
# Limit on the posts by any author that are scanned for a page.
_POSTS_LIMIT: Final = 2000


def list_home_items(viewer_id: int, cursor: Cursor) -> list[FeedItem]:
    """Return posts of the viewer's home timeline at the cursor, repeated boosts included. Takes one query."""
    return read_items(_HOME_STATEMENT, cursor, viewer=viewer_id)


def read_items(statement: FeedStatement, cursor: Cursor, **parameters: int) -> list[FeedItem]:
    """Return the posts of a feed from the cursor on, in the cursor's direction. Takes one query; repeated boosts are
    included.
    """
    low = 0 if cursor.after is None else min(cursor.after, _HIGHEST_ID)
    high = _HIGHEST_ID if cursor.before is None else min(cursor.before, _HIGHEST_ID)
    near, far = (low, high) if cursor.ascending else (high, low)
    values = {**parameters, "limit": cursor.limit, "most": _POSTS_LIMIT, "near": near, "far": far}
    found = rows_of(statement.up if cursor.ascending else statement.down, values)
    return [FeedItem(status_id, original or 0) for status_id, original in found]


class TaggedPosts(Container[int]):
    """Posts with a hashtag that the viewer followed before the post was written.

    The posts are loaded by one query on first use, because most pages do not need them.
    """

    def __init__(self, viewer_id: int, status_ids: Sequence[int]) -> None:
        self._viewer_id, self._status_ids = viewer_id, status_ids
        self._found: set[int] | None = None

    def __contains__(self, status_id: object) -> bool:
        if self._found is None:
            rows = rows_of(_TAGGED_POSTS, {"viewer": self._viewer_id, "ids": list(self._status_ids)})
            self._found = {found for (found,) in rows}
        return status_id in self._found


_TAGGED_POSTS: Final = """
SELECT t.status_id FROM accounts_tagfollow f JOIN statuses_statustag t ON t.tag_id = f.tag_id
 WHERE f.account_id = %(viewer)s AND t.status_id = ANY((SELECT %(ids)s)::bigint[]) AND t.status_id > f.id
"""
