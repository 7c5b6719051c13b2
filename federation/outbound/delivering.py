"""Sends what is due: many hosts at once, a few requests each, for a few seconds.

Source: contract, federation section 12; DESIGN "Deliveries are fair" and "Claims are leases": no transaction is open
while anything is sent.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.db import transaction

from federation.events import DeliveriesDue
from federation.models import Delivery, OutboundActivity
from federation.outbound.claims import Batch, Claimed, Result, claim, record
from federation.outbound.retrying import Verdict, verdict_on
from federation.remote.signing import signers_of
from social.kernel import clock
from social.kernel.crypto import UnreadableSecret
from social.kernel.events import publish
from social.kernel.http.client import FetchError, Signer, fetch_async, run
from social.kernel.outbox import OutboxRow

logger = logging.getLogger("social.federation")

HOSTS: Final = 200
PER_HOST_AT_ONCE: Final = 2
#: Seconds in which new deliveries are claimed; those under way may take DEADLINE more.
SLICE: Final = 5.0
DEADLINE: Final = 10.0
#: Seconds after which somebody looks again while anything waits.
NEXT_LOOK: Final = 5.0
_GATHER: Final = 0.01
_HEADERS: Final = {"Content-Type": "application/activity+json"}


class _Flight:
    """What is on its way now, on the network loop; asked from the worker's own thread."""

    def __init__(self) -> None:
        self.tasks: dict[asyncio.Task[list[Result]], tuple[str, int]] = {}

    @property
    def busy(self) -> list[str]:
        return [host for host, _token in self.tasks.values()]

    async def launch(self, batch: Batch, signers: Mapping[int, Sequence[Signer]]) -> None:
        for host, rows in batch.by_host.items():
            task = asyncio.create_task(_deliver_to_host(rows, batch.activities, signers))
            self.tasks[task] = (host, batch.token)

    async def collect(self, seconds: float) -> list[tuple[int, list[Result]]]:
        """What has come back, waiting for the first and then a moment for more; empty after `seconds`."""
        done, _pending = await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if done:
            await asyncio.sleep(_GATHER)
        return [(self.tasks.pop(task)[1], task.result()) for task in list(self.tasks) if task.done()]


async def _deliver_to_host(
    rows: Sequence[Claimed], activities: Mapping[int, OutboundActivity], signers: Mapping[int, Sequence[Signer]]
) -> list[Result]:
    """A few at a time; after the first failure, or DEADLINE seconds, the rest is left for later: the lease is not for ever."""
    end = time.monotonic() + DEADLINE
    waiting = list(reversed(rows))
    results: list[Result] = []
    failed = False

    async def lane() -> None:
        nonlocal failed
        while waiting and not failed and time.monotonic() < end:
            row = waiting.pop()
            result = await _deliver(row, activities.get(row.activity_id), signers)
            results.append(result)
            failed = failed or result.verdict == Verdict.FAILED

    await asyncio.gather(*(lane() for _ in range(min(PER_HOST_AT_ONCE, len(rows)))))
    return [*results, *(Result(row, None) for row in waiting)]


async def _deliver(row: Claimed, activity: OutboundActivity | None, signers: Mapping[int, Sequence[Signer]]) -> Result:
    usable = signers.get(activity.account_id) if activity is not None else None
    if activity is None or not usable:
        return Result(row, Verdict.REFUSED, "There is no key to sign it with.")
    try:
        for signer in usable:
            response = await fetch_async(
                row.inbox_url,
                method="POST",
                headers=_HEADERS,
                body=activity.body.encode(),
                signer=signer,
                redirects=0,
                max_bytes=1 << 16,
                deadline=DEADLINE,
            )
            # A signature it cannot check: perhaps it knows only the key before.
            if response.status != 401:
                break
    except FetchError as error:
        return Result(row, Verdict.FAILED, f"{type(error).__name__}: {error}")
    except Exception as error:
        logger.exception("Delivery %d failed", row.id)
        return Result(row, Verdict.FAILED, f"{type(error).__name__}: {error}")
    verdict = verdict_on(response.status)
    said = "" if verdict == Verdict.ARRIVED else response.body[:200].decode("utf-8", "replace")
    return Result(row, verdict, f"{response.status} {said}".strip())


def _signers(batch: Batch) -> dict[int, Sequence[Signer]]:
    """The signers of the accounts of a batch; one whose key cannot be opened is left out."""
    found: dict[int, Sequence[Signer]] = {}
    for activity in batch.activities.values():
        pair = getattr(activity.account, "key_pair", None)
        if activity.account_id not in found and pair is not None and pair.private_key:
            try:
                found[activity.account_id] = signers_of(pair)
            except UnreadableSecret:
                logger.error("The key of account %d cannot be opened with FIELD_ENCRYPTION_KEYS", activity.account_id)
    return found


def deliver_due() -> int:
    """Send what is due for SLICE seconds; how many deliveries arrived or were given up.

    If anything waits at the end, somebody will look again (DeliveriesDue). Any number of processes may do this at once.
    """
    end = time.monotonic() + SLICE
    flight = _Flight()
    settled = 0
    while True:
        room = HOSTS - len(flight.tasks)
        if room > 0 and time.monotonic() < end:
            batch = claim(room, flight.busy)
            if batch.by_host:
                run(flight.launch(batch, _signers(batch)))
        if not flight.tasks:
            break
        for token, results in run(flight.collect(0.5)):
            record(token, results)
            settled += sum(result.verdict in (Verdict.ARRIVED, Verdict.REFUSED) for result in results)
    _look_again(now=time.monotonic() >= end)
    return settled


def _look_again(*, now: bool) -> None:
    if not Delivery.objects.filter(dead_at=None).exists():
        return
    with transaction.atomic():
        if now:
            publish(DeliveriesDue())
            return
        moment = clock.now() + timedelta(seconds=NEXT_LOOK)
        later = OutboxRow.objects.filter(queue="deliveries", event=DeliveriesDue.__name__, dead_at=None)
        if not later.filter(due_at__gt=clock.now(), due_at__lte=moment).exists():
            publish(DeliveriesDue(), due_at=moment)
