"""Reads who has muted the thread of which post."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.db import connection

_SQL: Final = """
SELECT asked.account_id, asked.status_id
  FROM unnest(%(accounts)s::bigint[], %(statuses)s::bigint[]) asked (account_id, status_id)
  JOIN statuses_status s ON s.id = asked.status_id
  JOIN statuses_conversationmute c ON c.account_id = asked.account_id AND c.thread_id = COALESCE(s.thread_id, s.id)
"""


def load_muted(pairs: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of these (account id, post id) where the account mutes the post's thread: one query, none for no pairs."""
    if not pairs:
        return set()
    accounts, statuses = zip(*pairs, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"accounts": list(accounts), "statuses": list(statuses)})
        return {(account_id, status_id) for account_id, status_id in cursor.fetchall()}
