"""Reads what viewers have done with posts: one statement for one viewer or for many."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from django.db import connection

# Pair by pair through unique indexes (OFFSET 0): neither a viewer who likes everything nor a post that everybody likes costs
# more than others, and one plan serves all lengths (docs/adr/0011). A further mark is a column here and a set in Marks.
_SQL: Final = """
SELECT viewer.id, post.id, mark.favourited, mark.reblogged
  FROM unnest((SELECT %(viewers)s)::bigint[]) viewer (id) CROSS JOIN unnest((SELECT %(ids)s)::bigint[]) post (id)
 CROSS JOIN LATERAL (
   SELECT (SELECT 1 FROM statuses_favourite f
            WHERE f.account_id = viewer.id AND f.status_id = post.id) IS NOT NULL AS favourited,
          (SELECT 1 FROM statuses_status b
            WHERE b.account_id = viewer.id AND b.reblog_of_id = post.id AND b.deleted_at IS NULL) IS NOT NULL AS reblogged
   OFFSET 0) mark
 WHERE mark.favourited OR mark.reblogged
"""


@dataclass(slots=True)
class Marks:
    """The posts (never boosts) that a viewer has favourited and boosted."""

    favourited: set[int] = field(default_factory=set)
    reblogged: set[int] = field(default_factory=set)


def load_marks(viewer_ids: Collection[int], status_ids: Collection[int]) -> dict[int, Marks]:
    """The marks on these posts by viewer; who has none is left out. One query, none without viewers or posts."""
    found: dict[int, Marks] = {}
    if not viewer_ids or not status_ids:
        return found
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"viewers": list(viewer_ids), "ids": list(status_ids)})
        for viewer_id, status_id, favourited, reblogged in cursor.fetchall():
            marks = found.setdefault(viewer_id, Marks())
            if favourited:
                marks.favourited.add(status_id)
            if reblogged:
                marks.reblogged.add(status_id)
    return found
