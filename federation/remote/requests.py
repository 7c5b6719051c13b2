"""Puts what is wanted of other servers on the list of background fetches.

Each function needs the caller's transaction or opens its own, asks for one thing once however many want it, and publishes
FetchesDue. What waits for one server is bounded: who names a thousand posts of a slow server gets some of them.
"""

from __future__ import annotations

import logging
from typing import Final

from django.db import transaction

from accounts.models import Account
from federation.documents.reading import origin_of
from federation.events import FetchesDue
from federation.models import Fetch, FetchKind, InboundActivity
from social.kernel.errors import Unavailable
from social.kernel.events import publish

logger = logging.getLogger("social.federation")

WAITING_PER_HOST: Final = 500
ADDRESSES_PER_HOST: Final = 100
ANCESTORS: Final = 20
"""Posts above a received one that are fetched for it."""


def request_post(uri: str, *, remaining: int) -> None:
    """Have a post fetched that is unknown here, and up to `remaining` posts above it."""
    _request(Fetch(kind=FetchKind.POST, uri=uri, host=origin_of(uri) or "", remaining=remaining))


def request_actor(account: Account) -> None:
    """Have a remote account looked at again."""
    _request(Fetch(kind=FetchKind.ACTOR, uri=account.uri, host=origin_of(account.uri) or ""))


def request_address(username: str, domain: str) -> bool:
    """Have the account with an address found; False when much waits for its server: activities go before lists."""
    host = origin_of(f"https://{domain}") or ""
    return _request(Fetch(kind=FetchKind.ADDRESS, uri=f"{username}@{domain}", host=host), most=ADDRESSES_PER_HOST)


def request_for(activity: InboundActivity, host: str) -> None:
    """Have an activity worked off where documents can be waited for; the first is on `host`.

    Raises Unavailable when too much waits for that server.
    """
    if not _request(Fetch(kind=FetchKind.ACTIVITY, uri=str(activity.id), host=host, activity=activity)):
        raise Unavailable(f"too much waits for {host}")


def _request(fetch: Fetch, *, most: int | None = None) -> bool:
    most = WAITING_PER_HOST if most is None else most
    if not fetch.host:
        return False
    waiting = Fetch.objects.filter(host=fetch.host, dead_at=None).order_by("due_at")[:most].count()
    if waiting >= most:
        logger.info("%s is not fetched: too much waits for %s", fetch, fetch.host)
        return False
    with transaction.atomic():
        Fetch.objects.bulk_create([fetch], ignore_conflicts=True)
        publish(FetchesDue())
    return True
