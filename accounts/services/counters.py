"""Counts follows and posts, each count bumped in place, last in the caller's transaction and in id order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from django.db import connection

Counter = Literal["followers_count", "following_count", "statuses_count"]

_BUMP = {
    name: f"INSERT INTO accounts_accountstat (account_id, statuses_count, following_count, followers_count) "  # noqa: S608 (constants)
    f"VALUES (%(id)s, {first}) ON CONFLICT (account_id) DO UPDATE "
    f"SET {name} = GREATEST(accounts_accountstat.{name} + %(by)s, 0)"
    for name, first in (
        ("statuses_count", "GREATEST(%(by)s, 0), 0, 0"),
        ("following_count", "0, GREATEST(%(by)s, 0), 0"),
        ("followers_count", "0, 0, GREATEST(%(by)s, 0)"),
    )
}


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add to counters, keyed by (account id, counter). Sorted, so that two transactions cannot wait for each other."""
    with connection.cursor() as cursor:
        for (account_id, counter), by in sorted(changes.items()):
            cursor.execute(_BUMP[counter], {"id": account_id, "by": by})


def count_status(account_id: int, by: int, at: datetime | None) -> None:
    """One post more or less; a new one also moves `last_status_at` forward."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_accountstat (account_id, statuses_count, following_count, followers_count, "
            "last_status_at) VALUES (%(id)s, GREATEST(%(by)s, 0), 0, 0, %(at)s) ON CONFLICT (account_id) DO UPDATE SET "
            "statuses_count = GREATEST(accounts_accountstat.statuses_count + %(by)s, 0), "
            "last_status_at = GREATEST(accounts_accountstat.last_status_at, %(at)s)",
            {"id": account_id, "by": by, "at": at},
        )
