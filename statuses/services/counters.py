"""Counts replies, boosts and favourites of posts, last in the caller's transaction and in id order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from django.db import connection

Counter = Literal["replies_count", "reblogs_count", "favourites_count"]

_BUMP = {
    name: f"INSERT INTO statuses_statusstat (status_id, replies_count, reblogs_count, favourites_count, quotes_count) "  # noqa: S608
    f"VALUES (%(id)s, {first}, 0) ON CONFLICT (status_id) DO UPDATE "
    f"SET {name} = GREATEST(statuses_statusstat.{name} + %(by)s, 0)"
    for name, first in (
        ("replies_count", "GREATEST(%(by)s, 0), 0, 0"),
        ("reblogs_count", "0, GREATEST(%(by)s, 0), 0"),
        ("favourites_count", "0, 0, GREATEST(%(by)s, 0)"),
    )
}


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add to counters, keyed by (status id, counter). Sorted, so that two transactions cannot wait for each other.

    Account counters come before these in a transaction that changes both: (table, id) is the order everywhere.
    """
    with connection.cursor() as cursor:
        for (status_id, counter), by in sorted(changes.items()):
            cursor.execute(_BUMP[counter], {"id": status_id, "by": by})
