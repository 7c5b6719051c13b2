"""Reads what a viewer has done with posts, in one statement."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from django.db import connection

_SQL: Final = """
SELECT 'favourited', status_id FROM statuses_favourite
 WHERE account_id = %(viewer)s AND status_id = ANY(%(ids)s)
UNION ALL
SELECT 'reblogged', reblog_of_id FROM statuses_status
 WHERE account_id = %(viewer)s AND reblog_of_id = ANY(%(ids)s) AND deleted_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Marks:
    """The posts (never boosts) that the viewer has favourited and boosted, of those asked for."""

    favourited: frozenset[int] = frozenset()
    reblogged: frozenset[int] = frozenset()


NO_MARKS = Marks()


def load_marks(viewer_id: int | None, status_ids: Collection[int]) -> Marks:
    """The viewer's marks on these posts, in one query (none without a viewer or posts)."""
    if viewer_id is None or not status_ids:
        return NO_MARKS
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"viewer": viewer_id, "ids": list(status_ids)})
        found = cursor.fetchall()
    if not found:
        return NO_MARKS
    return Marks(
        favourited=frozenset(status_id for mark, status_id in found if mark == "favourited"),
        reblogged=frozenset(status_id for mark, status_id in found if mark == "reblogged"),
    )
