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

_COUNTS: Final = """
SELECT count(*), COALESCE(sum(size), 0), count(*) FILTER (WHERE actor_id = %(actor)s),
       COALESCE(sum(size) FILTER (WHERE actor_id = %(actor)s), 0),
       (SELECT received_at FROM federation_inboundactivity WHERE actor_id = %(actor)s
        ORDER BY id DESC OFFSET %(daily)s - 1 LIMIT 1)
FROM (SELECT size, actor_id FROM federation_inboundactivity WHERE host = %(host)s AND processed_at IS NULL LIMIT %(limit)s) w
"""


def check_room(actor_id: int, host: str, size: int) -> None:
    """Raise RateLimited when an activity of so many bytes is more than its actor or server may have stored here.

    It is answered 429, upon which servers send it again later.
    """
    values: dict[str, Value] = {"host": host, "actor": actor_id, "limit": WAITING_OF_HOST, "daily": DAILY_OF_ACTOR}
    ((of_host, bytes_of_host, of_actor, bytes_of_actor, since),) = rows_of(_COUNTS, values)
    if (
        of_host >= WAITING_OF_HOST
        or bytes_of_host + size > BYTES_OF_HOST
        or of_actor >= WAITING_OF_ACTOR
        or bytes_of_actor + size > BYTES_OF_ACTOR
        # Since when it has sent as many as it may within a day; None as long as it has not.
        or (since is not None and clock.now() - since < timedelta(days=1))
    ):
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
