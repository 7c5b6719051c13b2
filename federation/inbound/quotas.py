"""Limits of what is kept of one actor and of one server, whatever they send (security row 61).

Each bound is far above what a busy server sends, and far below what would fill a disk.
"""

from __future__ import annotations

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

#: Activities that wait to be acted upon, and their bytes: of one actor, and of all actors of one server.
WAITING_OF_ACTOR: Final = 500
BYTES_OF_ACTOR: Final = 8 << 20
WAITING_OF_HOST: Final = 5_000
BYTES_OF_HOST: Final = 64 << 20
#: Activities of one actor that were received within a day.
DAILY_OF_ACTOR: Final = 20_000
#: Deletions and undoings by one actor of what never came, and how long each is remembered.
UNKNOWN_OF_ACTOR: Final = 1_000

#: Part of the room that is left which a process gives away before it counts again, after some seconds at the latest: counting
#: reads what waits. Bounds are exact where little is left, and as many processes together stay within them.
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
    """Activities and bytes that are given away without counting, until `end`."""

    activities: int
    size: int
    end: float

    def has(self, size: int) -> bool:
        return self.activities > 0 and self.size >= size and time.monotonic() < self.end

    def take(self, size: int) -> None:
        self.activities -= 1
        self.size -= size


_lock: Final = threading.Lock()
# By the id of an actor, and by host.
_rooms: Final[OrderedDict[int | str, _Room]] = OrderedDict()


def check_room(actor_id: int, host: str, size: int) -> None:
    """Raise RateLimited when an activity of so many bytes is more than its actor or server may have stored here.

    It is answered 429, upon which servers send it again later.
    """
    with _lock:
        of_actor, of_host = _rooms.get(actor_id), _rooms.get(host)
        if of_actor is not None and of_host is not None and of_actor.has(size) and of_host.has(size):
            of_actor.take(size)
            of_host.take(size)
            return
    left = _count(actor_id, host)
    if not all(room.has(size) for room in left.values()):
        raise RateLimited
    with _lock:
        for sender, room in left.items():
            _rooms[sender] = _Room(room.activities // _PART_OF_ROOM, room.size // _PART_OF_ROOM, room.end)
            _rooms.move_to_end(sender)
        while len(_rooms) > _KNOWN_SENDERS:
            _rooms.popitem(last=False)


def _count(actor_id: int, host: str) -> dict[int | str, _Room]:
    """The room that is left of an actor and of a server, by these."""
    values: dict[str, Value] = {
        "host": host,
        "actor": actor_id,
        "limit": WAITING_OF_HOST,
        "daily": DAILY_OF_ACTOR,
        "yesterday": clock.now() - timedelta(days=1),
    }
    ((of_host, bytes_of_host, of_actor, bytes_of_actor, today),) = rows_of(_COUNTS, values)
    end = time.monotonic() + _COUNT_PERIOD
    activities = min(WAITING_OF_ACTOR - of_actor, DAILY_OF_ACTOR - today)
    return {
        actor_id: _Room(activities, BYTES_OF_ACTOR - bytes_of_actor, end),
        host: _Room(WAITING_OF_HOST - of_host, BYTES_OF_HOST - bytes_of_host, end),
    }


def remember_gone(uri: str, actor_uri: str, lifetime: timedelta) -> None:
    """Refuse, for so long, what has this id and is said to be this actor's. Too many are not remembered."""
    alive = Tombstone.objects.filter(actor_uri=actor_uri, expires_at__isnull=False).order_by("actor_uri", "uri")
    if alive[:UNKNOWN_OF_ACTOR].count() < UNKNOWN_OF_ACTOR:
        values = {"expires_at": clock.now() + lifetime}
        Tombstone.objects.get_or_create(uri=uri, actor_uri=actor_uri, defaults=values)


def host_of(actor_uri: str) -> str:
    """The server whose share an actor's activities are counted in."""
    return origin_of(actor_uri) or ""
