"""Senders who are unknown here and whose key is asked for as soon as it is their turn (security rows 58 and 71).

Each waits without a thread (`social.api.later`), for some seconds, and some of them at the same time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Final

WAIT_SECONDS: Final = 5.0
"""Seconds that one waits: with what a first and a last attempt take, about as long as servers wait for an answer."""
PLACES: Final = 32
PLACES_OF_ADDRESS: Final = 16

_lock: Final = threading.Lock()
# The address and the end of each wait; one that nobody ended is over by itself.
_waits: Final[dict[object, tuple[str, float]]] = {}


def begin(source: str) -> object | None:
    """Take a place for a sender at this address, which `end` gives back; None when too many wait already."""
    now = time.monotonic()
    with _lock:
        for place in [place for place, (_source, end) in _waits.items() if end <= now]:
            del _waits[place]
        if len(_waits) >= PLACES or Counter(at for at, _end in _waits.values())[source] >= PLACES_OF_ADDRESS:
            return None
        place = object()
        _waits[place] = (source, now + WAIT_SECONDS)
        return place


def end(place: object) -> None:
    """Give a place back."""
    with _lock:
        _waits.pop(place, None)
