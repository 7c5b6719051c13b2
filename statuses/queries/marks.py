"""Reads what viewers have done with posts: one statement for one viewer or for many."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from social.kernel import clock
from social.kernel.statements import Value, fetch
from statuses.policies.filters import ActiveFilter
from statuses.queries.filters import ACTIVE_SQL, read_active
from statuses.queries.page_polls import load_votes

# Pair by pair through unique indexes (OFFSET 0): neither a viewer who likes everything nor a post that everybody likes costs
# more than others, and one plan serves all lengths (docs/adr/0011). A further mark is a column here and a set in Marks.
_SQL: Final = f"""
SELECT viewer.id, post.id, NULL::json, mark.favourited, mark.reblogged, mark.bookmarked, mark.pinned, mark.muted
  FROM unnest((SELECT %(viewers)s)::bigint[]) viewer (id) CROSS JOIN unnest((SELECT %(ids)s)::bigint[]) post (id)
 CROSS JOIN LATERAL (
   SELECT (SELECT 1 FROM statuses_favourite f
            WHERE f.account_id = viewer.id AND f.status_id = post.id) IS NOT NULL AS favourited,
          (SELECT 1 FROM statuses_status b
            WHERE b.account_id = viewer.id AND b.reblog_of_id = post.id AND b.deleted_at IS NULL) IS NOT NULL AS reblogged,
          (SELECT 1 FROM statuses_bookmark k
            WHERE k.account_id = viewer.id AND k.status_id = post.id) IS NOT NULL AS bookmarked,
          (SELECT 1 FROM statuses_pin p WHERE p.account_id = viewer.id AND p.status_id = post.id) IS NOT NULL AS pinned,
          (SELECT 1 FROM statuses_status t JOIN statuses_conversationmute c
                      ON c.account_id = viewer.id AND c.thread_id = COALESCE(t.thread_id, t.id)
            WHERE t.id = post.id) IS NOT NULL AS muted
   OFFSET 0) mark
 WHERE mark.favourited OR mark.reblogged OR mark.bookmarked OR mark.pinned OR mark.muted
UNION ALL
SELECT found.id, 0, found.filters, false, false, false, false, false
  FROM (SELECT viewer.id, ({ACTIVE_SQL.format(account="viewer.id")}) AS filters
          FROM unnest((SELECT %(viewers)s)::bigint[]) viewer (id)) found
 WHERE found.filters IS NOT NULL
"""  # noqa: S608 (constants)


@dataclass(slots=True)
class Marks:
    """The posts (never boosts) that a viewer has favourited, boosted, bookmarked or pinned, or whose thread they mute; the
    viewer's active filters; and the viewer's votes by post, as places of the options.
    """

    favourited: set[int] = field(default_factory=set)
    reblogged: set[int] = field(default_factory=set)
    bookmarked: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    muted: set[int] = field(default_factory=set)
    filters: tuple[ActiveFilter, ...] = ()
    votes: dict[int, list[int]] = field(default_factory=dict)

    def concern(self, status_id: int) -> bool:
        """Whether the post may look different to this viewer than to one without marks."""
        return bool(self.filters) or status_id in self.votes or any(status_id in posts for posts in self.in_order)

    @property
    def in_order(self) -> tuple[set[int], ...]:
        """The sets in the order of the statement's columns."""
        return self.favourited, self.reblogged, self.bookmarked, self.pinned, self.muted


def load_marks(
    viewer_ids: Collection[int], status_ids: Collection[int], polls: Collection[int] = ()
) -> dict[int, Marks]:
    """The marks on these posts by viewer; who has none is left out. One query, none without viewers or posts, and one more
    if some of the posts have `polls`.
    """
    found: dict[int, Marks] = {}
    if not viewer_ids or not status_ids:
        return found
    values: dict[str, Value] = {"viewers": list(viewer_ids), "ids": list(status_ids), "now": clock.now()}
    for viewer_id, status_id, filters, *marked in fetch(_SQL, values):
        marks = found.setdefault(viewer_id, Marks())
        if filters is not None:
            marks.filters = read_active(filters)
        for posts, holds in zip(marks.in_order, marked, strict=True):
            if holds:
                posts.add(status_id)
    for viewer_id, votes in load_votes(viewer_ids, polls).items():
        found.setdefault(viewer_id, Marks()).votes = votes
    return found
