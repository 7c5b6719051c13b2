"""Limits on the data that is stored for one actor and for one server (security row 61): far above what a busy server sends, and
far below what would fill a disk.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from federation.documents.reading import origin_of
from federation.models import Tombstone
from social.kernel import clock
from social.kernel.errors import RateLimited
from social.kernel.statements import Value, rows_of

#: Maximum number and total bytes of unprocessed activities, for one actor and for all actors of one server.
WAITING_OF_ACTOR: Final = 500
BYTES_OF_ACTOR: Final = 8 << 20
WAITING_OF_HOST: Final = 5_000
BYTES_OF_HOST: Final = 64 << 20
#: Maximum number of activities that are received from one actor within a day.
DAILY_OF_ACTOR: Final = 20_000
#: Maximum number of tombstones of one actor for objects that were deleted or undone before they arrived.
UNKNOWN_OF_ACTOR: Final = 1_000

#: Counting reads all unprocessed rows. Therefore a process counts again only when it has used an eighth of the remaining room,
#: or after _COUNT_PERIOD seconds. Up to eight processes together stay within the limits.
_PART_OF_ROOM: Final = 8
_COUNT_PERIOD: Final = 5.0
_KNOWN_SENDERS: Final = 4096

_COUNTS: Final = """
SELECT count(*), COALESCE(sum(size), 0), count(*) FILTER (WHERE actor_id = %(actor)s),
       COALESCE(sum(size) FILTER (WHERE actor_id = %(actor)s), 0),
       (SELECT count(*) FROM (
            SELECT received_at FROM federation_inboundactivity WHERE actor_id = %(actor)s ORDER BY id DESC LIMIT %(daily)s) d
         WHERE received_at > %(yesterday)s)
FROM (SELECT size, actor_id FROM federation_inboundactivity WHERE host = %(host)s AND processed_at IS NULL LIMIT %(limit)s) w
"""


@dataclass(slots=True)
class _Room:
    """Activities and bytes that may be stored until `end` without counting again."""

    activities: int
    size: int
    end: float

    def has(self, size: int) -> bool:
        return self.activities > 0 and self.size >= size and time.monotonic() < self.end

    def take(self, size: int) -> None:
        self.activities -= 1
        self.size -= size


_lock: Final = threading.Lock()
# Keyed by the id of an actor (int) or by host (str).
_rooms: Final[OrderedDict[int | str, _Room]] = OrderedDict()


def check_room(actor_id: int, host: str, size: int) -> None:
    """Raise RateLimited (429, so that the sender retries) when `size` bytes would exceed a limit of the actor or the server."""
    with _lock:
        actor_room, host_room = _rooms.get(actor_id), _rooms.get(host)
        if actor_room is not None and host_room is not None and actor_room.has(size) and host_room.has(size):
            actor_room.take(size)
            host_room.take(size)
            return
    rooms = _count(actor_id, host)
    if not all(room.has(size) for room in rooms.values()):
        raise RateLimited
    with _lock:
        for sender, room in rooms.items():
            _rooms[sender] = _Room(room.activities // _PART_OF_ROOM, room.size // _PART_OF_ROOM, room.end)
            _rooms.move_to_end(sender)
        while len(_rooms) > _KNOWN_SENDERS:
            _rooms.popitem(last=False)


def _count(actor_id: int, host: str) -> dict[int | str, _Room]:
    values: dict[str, Value] = {
        "host": host,
        "actor": actor_id,
        "limit": WAITING_OF_HOST,
        "daily": DAILY_OF_ACTOR,
        "yesterday": clock.now() - timedelta(days=1),
    }
    ((host_count, bytes_of_host, actor_count, bytes_of_actor, today),) = rows_of(_COUNTS, values)
    end = time.monotonic() + _COUNT_PERIOD
    activities = min(WAITING_OF_ACTOR - actor_count, DAILY_OF_ACTOR - today)
    return {
        actor_id: _Room(activities, BYTES_OF_ACTOR - bytes_of_actor, end),
        host: _Room(WAITING_OF_HOST - host_count, BYTES_OF_HOST - bytes_of_host, end),
    }


def remember_gone(uri: str, actor_uri: str, lifetime: timedelta) -> None:
    """Refuse the object `uri` of this actor for `lifetime`, unless UNKNOWN_OF_ACTOR ids of the actor are stored already."""
    alive = Tombstone.objects.filter(actor_uri=actor_uri, expires_at__isnull=False).order_by("actor_uri", "uri")
    if alive[:UNKNOWN_OF_ACTOR].count() < UNKNOWN_OF_ACTOR:
        values = {"expires_at": clock.now() + lifetime}
        Tombstone.objects.get_or_create(uri=uri, actor_uri=actor_uri, defaults=values)


def host_of(actor_uri: str) -> str:
    """Return the server against whose limits the activities of an actor count."""
    return origin_of(actor_uri) or ""
