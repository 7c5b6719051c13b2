"""Counts follows and posts, each count bumped in place, last in the caller's transaction and in id order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, get_args

from django.db import connection

from social.kernel.counters import Counters

Counter = Literal["followers_count", "following_count", "statuses_count"]

_COUNTERS = Counters[Counter]("accounts_accountstat", "account_id", get_args(Counter))


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add to counters, keyed by (account id, counter)."""
    _COUNTERS.bump(changes)


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
