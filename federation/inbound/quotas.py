"""Limits of what is kept of one actor and of one server, whatever they send (security row 61).

Each bound is far above what a busy server sends, and far below what would fill a disk.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import connection

from federation.documents.reading import origin_of
from federation.models import InboundActivity, Tombstone
from social.kernel import clock
from social.kernel.errors import RateLimited

#: Activities that wait to be acted upon, and their bytes: of one actor, and of all actors of one server.
WAITING_OF_ACTOR: Final = 500
BYTES_OF_ACTOR: Final = 8 << 20
WAITING_OF_HOST: Final = 5_000
BYTES_OF_HOST: Final = 64 << 20
#: Activities of one actor that were received within a day.
DAILY_OF_ACTOR: Final = 20_000
#: Deletions and undoings by one actor of what never came, and how long each is remembered.
UNKNOWN_OF_ACTOR: Final = 1_000

_WAITING: Final = """
SELECT count(*), COALESCE(sum(size), 0), count(*) FILTER (WHERE actor_id = %(actor)s),
       COALESCE(sum(size) FILTER (WHERE actor_id = %(actor)s), 0)
FROM (SELECT size, actor_id FROM federation_inboundactivity WHERE host = %(host)s AND processed_at IS NULL LIMIT %(limit)s) w
"""


def check_room(actor_id: int, host: str, size: int) -> None:
    """Raise RateLimited when an activity of so many bytes is more than its actor or server may have stored here.

    It is answered 429, upon which servers send it again later.
    """
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, {"host": host, "actor": actor_id, "limit": WAITING_OF_HOST})
        of_host, bytes_of_host, of_actor, bytes_of_actor = cursor.fetchone()
    if (
        of_host >= WAITING_OF_HOST
        or bytes_of_host + size > BYTES_OF_HOST
        or of_actor >= WAITING_OF_ACTOR
        or bytes_of_actor + size > BYTES_OF_ACTOR
        or _received_today(actor_id)
    ):
        raise RateLimited


def _received_today(actor_id: int) -> bool:
    """Tell whether the actor has sent as many within a day as it may."""
    newest_first = (
        InboundActivity.objects.filter(actor_id=actor_id).order_by("-id").values_list("received_at", flat=True)
    )
    earlier = newest_first[DAILY_OF_ACTOR - 1 : DAILY_OF_ACTOR].first()
    return earlier is not None and clock.now() - earlier < timedelta(days=1)


def remember_gone(uri: str, actor_uri: str, lifetime: timedelta) -> None:
    """Refuse, for so long, what has this id and is said to be this actor's. Too many are not remembered."""
    alive = Tombstone.objects.filter(actor_uri=actor_uri, expires_at__isnull=False).order_by("actor_uri", "uri")
    if alive[:UNKNOWN_OF_ACTOR].count() < UNKNOWN_OF_ACTOR:
        values = {"expires_at": clock.now() + lifetime}
        Tombstone.objects.get_or_create(uri=uri, actor_uri=actor_uri, defaults=values)


def host_of(actor_uri: str) -> str:
    """The server whose share an actor's activities are counted in."""
    return origin_of(actor_uri) or ""
