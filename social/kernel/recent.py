"""Values cached per process for a few seconds."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from django.conf import settings

T = TypeVar("T")
_SIZE_LIMIT = 256


class Recent(Generic[T]):
    """Cache: `recent.get(key, make)` returns the value made for the key within the last settings.RECENT_SECONDS, or makes a
    new one. Two threads may make a value at the same moment; neither waits for the other.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, tuple[float, T]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value cached for `key`, or a new one from `make`, whose errors are raised and not cached."""
        now = time.monotonic()
        kept = self._values.get(key)
        if kept is not None and kept[0] > now:
            return kept[1]
        value = make()
        if settings.RECENT_SECONDS > 0:
            with self._lock:
                if len(self._values) >= _SIZE_LIMIT:
                    self._values.clear()
                self._values[key] = (now + settings.RECENT_SECONDS, value)
        return value
