"""Reads which of many readers have marked which of many posts: the answer is short, new posts have few marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from django.db import connection

from statuses.queries.marks import Marks

_SQL: Final = """
SELECT 'favourited', account_id, status_id FROM statuses_favourite
 WHERE status_id = ANY(%(ids)s) AND account_id = ANY(%(readers)s)
UNION ALL
SELECT 'reblogged', account_id, reblog_of_id FROM statuses_status
 WHERE reblog_of_id = ANY(%(ids)s) AND account_id = ANY(%(readers)s) AND deleted_at IS NULL
"""


def load_readers_marks(reader_ids: Collection[int], status_ids: Collection[int]) -> dict[int, Marks]:
    """The marks on these posts, by reader; who has none is left out. One query, none without readers."""
    if not reader_ids or not status_ids:
        return {}
    found: dict[str, dict[int, set[int]]] = {"favourited": defaultdict(set), "reblogged": defaultdict(set)}
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"ids": list(status_ids), "readers": list(reader_ids)})
        for kind, reader, status_id in cursor.fetchall():
            found[kind][reader].add(status_id)
    return {
        reader: Marks(frozenset(found["favourited"][reader]), frozenset(found["reblogged"][reader]))
        for reader in {*found["favourited"], *found["reblogged"]}
    }
