"""Limits of what is kept of one actor and of one server, whatever they send (security row 61).

Each bound is far above what a busy server sends, and far below what would fill a disk.
"""

from __future__ import annotations

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

ROOM: Final = """
SELECT TRUE FROM (
    SELECT count(*) AS of_host, COALESCE(sum(size), 0) AS bytes_of_host,
           count(*) FILTER (WHERE actor_id = %(actor)s) AS of_actor,
           COALESCE(sum(size) FILTER (WHERE actor_id = %(actor)s), 0) AS bytes_of_actor
      FROM (SELECT size, actor_id FROM federation_inboundactivity WHERE host = %(host)s AND processed_at IS NULL
             LIMIT %(most_of_host)s) w) waiting
 WHERE of_host < %(most_of_host)s AND bytes_of_host + %(size)s <= %(most_bytes_of_host)s
   AND of_actor < %(most_of_actor)s AND bytes_of_actor + %(size)s <= %(most_bytes_of_actor)s
   AND COALESCE((
       SELECT received_at FROM federation_inboundactivity WHERE actor_id = %(actor)s
        ORDER BY id DESC OFFSET %(daily)s - 1 LIMIT 1) <= %(yesterday)s, TRUE)
"""
"""A row if an activity of so many bytes is no more than its actor and server may have stored here; the daily bound counts since
when the actor has sent as many. Its values are those of `room_values`.
"""


def room_values(actor_id: int, host: str, size: int) -> dict[str, Value]:
    """Values for ROOM."""
    return {
        "actor": actor_id,
        "host": host,
        "size": size,
        "most_of_host": WAITING_OF_HOST,
        "most_bytes_of_host": BYTES_OF_HOST,
        "most_of_actor": WAITING_OF_ACTOR,
        "most_bytes_of_actor": BYTES_OF_ACTOR,
        "daily": DAILY_OF_ACTOR,
        "yesterday": clock.now() - timedelta(days=1),
    }


def check_room(values: dict[str, Value]) -> None:
    """Raise RateLimited when there is no room for an activity with these `room_values`.

    It is answered 429, upon which servers send it again later.
    """
    if not rows_of(ROOM, values):
        raise RateLimited


def remember_gone(uri: str, actor_uri: str, lifetime: timedelta) -> None:
    """Refuse, for so long, what has this id and is said to be this actor's. Too many are not remembered."""
    alive = Tombstone.objects.filter(actor_uri=actor_uri, expires_at__isnull=False).order_by("actor_uri", "uri")
    if alive[:UNKNOWN_OF_ACTOR].count() < UNKNOWN_OF_ACTOR:
        values = {"expires_at": clock.now() + lifetime}
        Tombstone.objects.get_or_create(uri=uri, actor_uri=actor_uri, defaults=values)


def host_of(actor_uri: str) -> str:
    """The server whose share an actor's activities are counted in."""
    return origin_of(actor_uri) or ""
