"""Reads the marks of any number of viewers on posts (favourites, boosts, bookmarks, pins, muted threads) and their filters."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from django.db import connection

from social.kernel import clock
from social.kernel.statements import Value, rows_of
from statuses.policies.filters import Filters
from statuses.queries.filters import ACTIVE_SQL, read_active
from statuses.queries.posts import load_votes

# Each table is read once, through its unique index on account and post. The cost does not depend on how many favourites a
# viewer or a post has, and one plan is used for any number of ids (docs/adr/0011). A new kind of mark needs a part here and a
# set in Marks.
_VIEWERS: Final = "ANY((SELECT %(viewers)s)::bigint[])"
_POSTS: Final = "ANY((SELECT %(ids)s)::bigint[])"


def _marked(number: int, table: str, column: str = "status_id", condition: str = "TRUE") -> str:
    return f"""
SELECT {number}, account_id, {column}, NULL::json FROM {table}
 WHERE account_id = {_VIEWERS} AND {column} = {_POSTS} AND {condition}
"""  # noqa: S608 (constants)


_FAVOURITED, _REBLOGGED, _BOOKMARKED, _PINNED, _MUTED, _FILTERS = range(6)
_MARKS: Final = "UNION ALL".join(
    (
        _marked(_FAVOURITED, "statuses_favourite"),
        _marked(_REBLOGGED, "statuses_status", "reblog_of_id", "deleted_at IS NULL"),
        _marked(_BOOKMARKED, "statuses_bookmark"),
        _marked(_PINNED, "statuses_pin"),
        # The posts are read only if a viewer mutes any thread.
        f"""
SELECT {_MUTED}, mute.account_id, post.id, NULL
  FROM (SELECT id, COALESCE(thread_id, id) AS thread_id FROM statuses_status
         WHERE id = {_POSTS} AND EXISTS (SELECT 1 FROM statuses_conversationmute WHERE account_id = {_VIEWERS})) post
  JOIN statuses_conversationmute mute ON mute.thread_id = post.thread_id AND mute.account_id = {_VIEWERS}
""",  # noqa: S608 (constants)
        ACTIVE_SQL.format(columns=f"{_FILTERS}, f.account_id, 0,", accounts=_VIEWERS),
    )
)


@dataclass(slots=True)
class Marks:
    """Posts (never boosts) that a viewer has favourited, boosted, bookmarked or pinned, or whose thread the viewer mutes; the
    viewer's active filters; and the viewer's votes by post id, as indexes of options.
    """

    favourited: set[int] = field(default_factory=set)
    reblogged: set[int] = field(default_factory=set)
    bookmarked: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    muted: set[int] = field(default_factory=set)
    filters: Filters = field(default_factory=Filters)
    votes: dict[int, list[int]] = field(default_factory=dict)

    def concern(self, status_id: int) -> bool:
        """Tell whether the post may look different to this viewer than to a viewer without marks."""
        return bool(self.filters) or status_id in self.votes or any(status_id in posts for posts in self.in_order)

    @property
    def in_order(self) -> tuple[set[int], ...]:
        """Sets in the order of the numbers by which the statement identifies them."""
        return self.favourited, self.reblogged, self.bookmarked, self.pinned, self.muted


def load_marks(
    viewer_ids: Collection[int], status_ids: Collection[int], polls: Collection[int] = ()
) -> dict[int, Marks]:
    """Return the marks on these posts by viewer id; viewers without marks are left out. One query, one more if `polls` are
    given.
    """
    found: dict[int, Marks] = {}
    if not viewer_ids or not status_ids:
        return found
    values: dict[str, Value] = {"viewers": list(viewer_ids), "ids": list(status_ids), "now": clock.now()}
    for number, viewer_id, status_id, filters in rows_of(_MARKS, values):
        marks = found.setdefault(viewer_id, Marks())
        if number == _FILTERS:
            marks.filters = read_active(filters)
        else:
            marks.in_order[number].add(status_id)
    for viewer_id, votes in load_votes(viewer_ids, polls).items():
        found.setdefault(viewer_id, Marks()).votes = votes
    return found


_MUTED_PAIRS: Final = """
SELECT asked.account_id, asked.status_id
  FROM unnest(%(accounts)s::bigint[], %(statuses)s::bigint[]) asked (account_id, status_id)
  JOIN statuses_status s ON s.id = asked.status_id
  JOIN statuses_conversationmute c ON c.account_id = asked.account_id AND c.thread_id = COALESCE(s.thread_id, s.id)
"""


def load_muted(pairs: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the (account id, post id) pairs in which the account mutes the post's thread: one query, or none if there are no
    pairs.
    """
    if not pairs:
        return set()
    accounts, statuses = zip(*pairs, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_MUTED_PAIRS, {"accounts": list(accounts), "statuses": list(statuses)})
        return {(account_id, status_id) for account_id, status_id in cursor.fetchall()}
