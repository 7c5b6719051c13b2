"""Rate limits for streams, as token buckets."""

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
    _balances: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def take(self, key: Hashable, count: int = 1) -> bool:
        """Take `count` tokens from the key's bucket, and tell whether there were enough."""
        now = time.monotonic()
        if len(self._balances) > _KEYS_LIMIT:
            self._balances = {
                other: state
                for other, state in self._balances.items()
                if self._current_tokens(*state, now) < self.burst
            }
        balance = self._current_tokens(*self._balances.get(key, (self.burst, now)), now)
        self._balances[key] = max(balance - count, 0.0), now
        return balance >= count

    def _current_tokens(self, balance: float, moment: float, now: float) -> float:
        return min(self.burst, balance + (now - moment) * self.rate)
