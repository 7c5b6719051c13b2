"""Fetches the pages whose previews are wanted: many servers at once, one page of each, for some seconds.

Source: DESIGN "Lanes" and "Claims are leases"; contract, federation section 16; security rows 4, 10 and 58.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.db import InterfaceError, OperationalError, transaction

from social.kernel import clock
from social.kernel.claims import Claims, Failure, FairShare, idle, new_token
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from social.kernel.http.client import (
    Exhausted,
    FetchError,
    Response,
    TimedOut,
    Unreachable,
    Untrusted,
    fetch_async,
    run,
)
from social.kernel.outbox import OutboxRow
from statuses.events import CardsDue
from statuses.models import CardFetch, PreviewCard
from statuses.policies.cards import host_of
from statuses.policies.previews import (
    EMBED_BYTES,
    EMBED_TYPES,
    IMAGE_BYTES,
    IMAGE_TYPES,
    PAGE_BYTES,
    PAGE_TYPES,
    Preview,
    read_embed,
    read_page,
)
from statuses.services.cards import store_card

logger = logging.getLogger("social.cards")

# Pictures are held in memory until they are drawn anew: so many times 8 MB at most.
JOBS: Final = 8
#: Seconds in which new fetches are claimed; those under way may take JOB_SECONDS more.
SLICE: Final = 20.0
#: Seconds for one answer, and for page, oEmbed document and picture together.
DEADLINE: Final = 10.0
JOB_SECONDS: Final = 25.0
SECONDS: Final = 120.0
"""The longest that `fetch_cards` may take."""
LEASE: Final = 120.0
ATTEMPTS: Final = 3
#: Seconds in which a server that has not answered is left alone.
PAUSE: Final = 60.0
NEXT_LOOK: Final = 5.0

QUEUE: Final = "cards"
_WEB: Final = ("https", "http")
_BROKEN: Final = (408, 425, 429)
_SHARE: Final = FairShare(table="statuses_cardfetch", columns=("id", "card_id", "host", "attempts"))
_claims: Final = Claims("statuses_cardfetch")


class _Failed(Unavailable):
    """The server is there, and could not answer now."""


@dataclass(frozen=True, slots=True)
class _Claimed:
    id: int
    card_id: int
    host: str
    attempts: int


@dataclass(frozen=True, slots=True)
class _Found:
    """What came of one fetch: a preview with its picture; or why there is none, and whether it is worth another try."""

    preview: Preview | None = None
    host: str = ""
    image: bytes | None = None
    error: str = ""
    again: bool = False


@dataclass(eq=False)
class _Flight:
    """The fetches that are on their way now, on the network loop; asked from the worker's own thread."""

    token: int
    tasks: dict[asyncio.Task[_Found], _Claimed] = field(default_factory=dict)

    async def launch(self, row: _Claimed, url: str) -> None:
        self.tasks[asyncio.create_task(_gather(url))] = row

    async def collect(self, seconds: float) -> list[tuple[_Claimed, _Found]]:
        """What has come back, waiting for the first; nothing after `seconds`."""
        await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return [(self.tasks.pop(task), task.result()) for task in list(self.tasks) if task.done()]

    def busy(self) -> list[str]:
        return [row.host for row in self.tasks.values()]


def fetch_cards(events: Sequence[CardsDue] = ()) -> None:
    """Fetch what is due for SLICE seconds and keep it, however many asked for it.

    If anything waits at the end, somebody will look again (CardsDue). Any number of processes may do this at once. A
    server that does not answer is asked ATTEMPTS times, and holds up no other.
    """
    end = time.monotonic() + SLICE
    flight = _Flight(new_token())
    while True:
        launched = 0
        if time.monotonic() < end and len(flight.tasks) < JOBS:
            launched = _launch(flight, JOBS - len(flight.tasks))
        if not flight.tasks:
            break
        for row, found in run(flight.collect(0.0 if launched else 0.5)):
            _keep(flight.token, row, found)
    _look_again(now=time.monotonic() >= end)


def _launch(flight: _Flight, hosts: int) -> int:
    rows = [
        _Claimed(*row)
        for row in _claims.take_fairly(_SHARE, flight.token, hosts=hosts, per_host=1, lease=LEASE, busy=flight.busy())
    ]
    cards = PreviewCard.objects.filter(id__one_of=[row.card_id for row in rows])
    urls = dict(cards.values_list("id", "url"))
    for row in rows:
        if row.card_id in urls:
            run(flight.launch(row, urls[row.card_id]))
    return len(rows)


async def _gather(url: str) -> _Found:
    """A page, its oEmbed document and its picture, one after the other."""
    try:
        async with asyncio.timeout(JOB_SECONDS):
            page = await _ask(url, PAGE_TYPES, PAGE_BYTES, cut=True)
            preview = await asyncio.to_thread(read_page, page.body, page.headers.get("Content-Type", ""), page.url)
            if preview.embed_url:
                preview = await _with_embed(preview)
            image = await _image(preview.image_url) if preview.title and preview.image_url else None
            return _Found(preview, host_of(page.url), image)
    except TimeoutError:
        return _Found(error=f"{url[:200]} took longer than {JOB_SECONDS:g} s", again=True)
    except (TimedOut, Exhausted, _Failed) as error:
        return _Found(error=str(error), again=True)
    except FetchError as error:
        again = isinstance(error, Unreachable) and not isinstance(error, Untrusted)
        return _Found(error=str(error), again=again)
    except Exception as error:
        # What is wrong with one page is not to stop the fetches of others.
        logger.exception("the page of a preview could not be read")
        return _Found(error=f"{type(error).__name__}: {error}", again=True)


async def _ask(url: str, accept: Sequence[str], most: int, *, cut: bool = False) -> Response:
    """Raises _Failed for what may be better soon, FetchError for what may not be asked, and for any answer but 200."""
    answer = await fetch_async(url, accept=accept, max_bytes=most, deadline=DEADLINE, schemes=_WEB, cut=cut)
    if answer.status >= 500 or answer.status in _BROKEN:
        raise _Failed(f"{answer.status} from {url[:200]}")
    if answer.status != 200:
        raise FetchError(f"{answer.status} from {url[:200]}")
    return answer


async def _with_embed(preview: Preview) -> Preview:
    try:
        answer = await _ask(preview.embed_url, EMBED_TYPES, EMBED_BYTES)
    except Unavailable:
        return preview
    return await asyncio.to_thread(read_embed, answer.body, preview)


async def _image(url: str) -> bytes | None:
    try:
        return (await _ask(url, IMAGE_TYPES, IMAGE_BYTES)).body
    except Unavailable:
        return None


def _keep(token: int, row: _Claimed, found: _Found) -> None:
    if found.again:
        _pause(row.host)
        _fail(token, row, found.error)
        return
    if found.error:
        logger.info("card %d: %s", row.card_id, found.error)
    try:
        store_card(card_id=row.card_id, preview=found.preview, host=found.host, image=found.image)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("card %d could not be stored", row.card_id)
        _fail(token, row, f"{type(error).__name__}: {error}")
    else:
        _claims.finish_quickly(token, [row.id])


def _fail(token: int, row: _Claimed, error: str) -> None:
    attempts = row.attempts + 1
    failure = Failure(row.id, attempts, PAUSE * 4 ** (attempts - 1), error, dead=attempts >= ATTEMPTS)
    _claims.fail(token, [failure])


def _pause(host: str) -> None:
    """Leave a server alone that has not answered: what else waits for it would wait as long."""
    soon = clock.now() + timedelta(seconds=PAUSE)
    CardFetch.objects.filter(idle(), host=host, dead_at=None, due_at__lt=soon).update(due_at=soon)


def _look_again(*, now: bool) -> None:
    waiting = CardFetch.objects.filter(idle(), dead_at=None)
    soonest = waiting.order_by("due_at").values_list("due_at", flat=True).first()
    if soonest is None:
        return
    with transaction.atomic():
        if now and soonest <= clock.now():
            publish(CardsDue())
            return
        moment = max(soonest, clock.now() + timedelta(seconds=NEXT_LOOK))
        later = OutboxRow.objects.filter(queue=QUEUE, event=CardsDue.__name__, dead_at=None)
        if not later.filter(due_at__gt=clock.now(), due_at__lte=moment).exists():
            publish(CardsDue(), due_at=moment)
