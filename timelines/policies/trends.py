"""Calculates the scores of trends (contract, behaviours section 18 "Trends")."""

from datetime import datetime, timedelta
from typing import Final

THRESHOLD: Final = 5
"""Minimum number of accounts that a hashtag or link needs to trend, and of favourites and boosts that a post needs."""

TAG_HALF_LIFE: Final = timedelta(hours=4)
LINK_HALF_LIFE: Final = timedelta(hours=8)
STATUS_HALF_LIFE: Final = timedelta(hours=1)

PEAK_LIFETIME: Final = timedelta(days=2)
"""Time after which a peak expires, and the current score replaces it."""

LOWEST_SCORE: Final = 1.0
"""Minimum score of a trend."""


def surprise(observed: int, expected: int) -> float:
    """Return a score for the excess of `observed` over `expected`: 0 without an excess, and for a number below THRESHOLD."""
    usual = max(expected, 1)
    if observed < THRESHOLD or observed <= usual:
        return 0.0
    return (observed - usual) ** 2 / usual


def decayed(score: float, since: datetime, now: datetime, half_life: timedelta) -> float:
    """Return the current value of a score that was reached at `since`."""
    return float(score * 0.5 ** (max(now - since, timedelta()) / half_life))
