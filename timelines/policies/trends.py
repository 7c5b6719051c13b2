"""Measures how strongly something trends (contract, behaviours section 18 "Trends")."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

THRESHOLD: Final = 5
"""People, or likes and boosts, below which nothing trends."""

TAG_HALF_LIFE: Final = timedelta(hours=4)
LINK_HALF_LIFE: Final = timedelta(hours=8)
STATUS_HALF_LIFE: Final = timedelta(hours=1)

PEAK_LIFETIME: Final = timedelta(days=2)
"""Time after which a peak is forgotten, and what is measured now counts."""

LOWEST_SCORE: Final = 1.0
"""Score below which nothing trends any more."""


def surprise(observed: int, expected: int) -> float:
    """Measure how much more there is than was to be expected: 0 below THRESHOLD, and where there is no more than
    expected.
    """
    usual = max(expected, 1)
    if observed < THRESHOLD or observed <= usual:
        return 0.0
    return (observed - usual) ** 2 / usual


def decayed(score: float, since: datetime, now: datetime, half_life: timedelta) -> float:
    """A score that was reached at `since`, as it is now."""
    return float(score * 0.5 ** (max(now - since, timedelta()) / half_life))
