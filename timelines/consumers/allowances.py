"""Limits how often somebody may do something on streams: so much at once, and so much a second."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

_KEYS_LIMIT: Final = 1000


@dataclass(slots=True)
class Allowances:
    """`burst` at once for each key, of which `rate` come back each second (a token bucket for each key)."""

    burst: float
    rate: float
    # What was left, and when.
    _left: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def take(self, key: Hashable, count: int = 1) -> bool:
        """Tell whether so many were left for the key; then there are so many less."""
        now = time.monotonic()
        if len(self._left) > _KEYS_LIMIT:
            self._left = {other: kept for other, kept in self._left.items() if self._now(*kept, now) < self.burst}
        left = self._now(*self._left.get(key, (self.burst, now)), now)
        self._left[key] = max(left - count, 0.0), now
        return left >= count

    def _now(self, left: float, moment: float, now: float) -> float:
        return min(self.burst, left + (now - moment) * self.rate)
