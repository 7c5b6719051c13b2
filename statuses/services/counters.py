"""Counts replies, boosts and favourites of posts, last in the caller's transaction and in id order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from social.kernel.counters import Counters

Counter = Literal["replies_count", "reblogs_count", "favourites_count", "quotes_count"]

_COUNTERS = Counters[Counter]("statuses_statusstat", "status_id", get_args(Counter))


def bump(changes: Mapping[tuple[int, Counter], int]) -> None:
    """Add to counters, keyed by (status id, counter).

    Account counters come before these in a transaction that changes both: (table, id) is the order everywhere.
    """
    _COUNTERS.bump(changes)
