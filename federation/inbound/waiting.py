"""Requests that wait without occupying a thread (`social.api.later`) until their sender's key is fetched (security rows 58 and
71).
"""

import threading
import time
from collections import Counter
from typing import Final

WAIT_SECONDS: Final = 5.0
"""Time-out of one wait. Together with the attempts before and after the wait, a request takes about as long as servers wait for
a response."""
PLACES_LIMIT: Final = 32
PLACES_PER_ADDRESS: Final = 16

_lock: Final = threading.Lock()
# The address of each waiting request, and the time at which its wait ends. A wait expires unless it is ended
# explicitly.
_waits: Final[dict[object, tuple[str, float]]] = {}


def begin(source: str) -> object | None:
    """Reserve a place for a request from the address `source`, until `end` releases it; None when too many are waiting."""
    now = time.monotonic()
    with _lock:
        for place in [place for place, (_source, end) in _waits.items() if end <= now]:
            del _waits[place]
        if len(_waits) >= PLACES_LIMIT or Counter(at for at, _end in _waits.values())[source] >= PLACES_PER_ADDRESS:
            return None
        place = object()
        _waits[place] = (source, now + WAIT_SECONDS)
        return place


def end(place: object) -> None:
    with _lock:
        _waits.pop(place, None)
