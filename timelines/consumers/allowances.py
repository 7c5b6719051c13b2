"""Rate limits for streams, as token buckets."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

_KEYS_LIMIT: Final = 1000


@dataclass(slots=True)
class Allowances:
    """Token bucket for each key: it holds at most `burst` tokens, and is refilled with `rate` tokens per second."""

    burst: float
    rate: float
    # Remaining tokens by key, and the time at which they were calculated.
    _left: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def take(self, key: Hashable, count: int = 1) -> bool:
        """Take `count` tokens from the key's bucket, and tell whether there were enough."""
        now = time.monotonic()
        if len(self._left) > _KEYS_LIMIT:
            self._left = {other: kept for other, kept in self._left.items() if self._now(*kept, now) < self.burst}
        left = self._now(*self._left.get(key, (self.burst, now)), now)
        self._left[key] = max(left - count, 0.0), now
        return left >= count

    def _now(self, left: float, moment: float, now: float) -> float:
        return min(self.burst, left + (now - moment) * self.rate)
