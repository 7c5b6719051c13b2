"""Fetches what waits in the background: many servers at once, little of each, for a few seconds.

Source: DESIGN "Lanes" and "Claims are leases"; contract, federation section 13; security rows 34 and 58.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.db import InterfaceError, OperationalError, transaction

from federation.documents.reading import Rejected
from federation.events import FetchesDue
from federation.inbound.processing import act_upon
from federation.models import Fetch, FetchKind
from federation.remote.actors import refresh_if_stale
from federation.remote.addresses import ask_for
from federation.remote.gathering import Awaited, Gathered
from federation.remote.posts import find_or_fetch_post
from social.kernel import clock
from social.kernel.claims import Claims, Failure, FairShare, idle, new_token
from social.kernel.errors import KernelError, Unavailable
from social.kernel.events import publish
from social.kernel.http.client import run
from social.kernel.outbox import OutboxRow

logger = logging.getLogger("social.federation")

JOBS: Final = 100
PER_HOST: Final = 2
#: Seconds in which new fetches are claimed; those under way may take JOB_SECONDS more.
SLICE: Final = 30.0
#: Seconds for one answer, and for all that one fetch waits for.
DEADLINE: Final = 10.0
JOB_SECONDS: Final = 20.0
LEASE: Final = 90.0
ATTEMPTS: Final = 3
#: Seconds in which a server that has not answered is left alone.
PAUSE: Final = 60.0
NEXT_LOOK: Final = 5.0
KEPT_DEAD: Final = timedelta(hours=6)
_GATHER: Final = 0.01

_SHARE: Final = FairShare(
    table="federation_fetch", columns=("id", "kind", "uri", "host", "attempts", "remaining", "activity_id")
)
_claims: Final = Claims("federation_fetch")


@dataclass(frozen=True, slots=True)
class _Claimed:
    id: int
    kind: str
    uri: str
    host: str
    attempts: int
    remaining: int
    activity_id: int | None


@dataclass(eq=False, slots=True)
class _Job:
    """A claimed row, and what was fetched for it so far."""

    row: _Claimed
    token: int
    ends: float
    gathered: Gathered = field(default_factory=Gathered)


@dataclass(eq=False)
class _Flight:
    """The requests that are on their way now, on the network loop; asked from the worker's own thread."""

    tasks: dict[asyncio.Task[bool], tuple[_Job, str]] = field(default_factory=dict)

    def busy(self) -> list[str]:
        """The hosts with as many claimed fetches as allowed."""
        counts = Counter(job.row.host for job, _host in self.tasks.values())
        return [host for host, number in counts.items() if number >= PER_HOST]

    async def launch(self, job: _Job, awaited: Awaited) -> None:
        seconds = max(min(DEADLINE, job.ends - time.monotonic()), 0.1)
        self.tasks[asyncio.create_task(job.gathered.ask(awaited, seconds))] = (job, awaited.host)

    async def collect(self, seconds: float) -> list[tuple[_Job, str, bool]]:
        """What has come back, waiting for the first and then a moment for more; nothing after `seconds`."""
        done, _pending = await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if done:
            await asyncio.sleep(_GATHER)
        return [(*self.tasks.pop(task), task.result()) for task in list(self.tasks) if task.done()]


def fetch_due() -> int:
    """Fetch what is due for SLICE seconds and act upon it; how many rows were done or given up.

    If anything waits at the end, somebody will look again (FetchesDue). Any number of processes may do this at once.
    """
    end = time.monotonic() + SLICE
    flight = _Flight()
    done = 0
    open_for_more = True
    while True:
        ready: list[_Job] = []
        if open_for_more and len(flight.tasks) < JOBS:
            ready = _claim(JOBS - len(flight.tasks), flight.busy())
        if flight.tasks:
            for job, host, answered in run(flight.collect(0.0 if ready else 0.5)):
                if not answered:
                    _pause(host)
                ready.append(job)
        for job in ready:
            awaited = _advance(job)
            if awaited is not None:
                run(flight.launch(job, awaited))
            else:
                done += 1
        if open_for_more and time.monotonic() >= end:
            # What comes now is for the next one, who need not wait for the slowest of these.
            open_for_more = False
            _look_again(now=True)
        if not flight.tasks and not ready:
            break
    if open_for_more:
        _look_again(now=False)
    return done


def _claim(hosts: int, busy: list[str]) -> list[_Job]:
    token, ends = new_token(), time.monotonic() + JOB_SECONDS
    rows = _claims.take_fairly(_SHARE, token, hosts=hosts, per_host=PER_HOST, lease=LEASE, busy=busy)
    return [_Job(_Claimed(*row), token, ends) for row in sorted(rows)]


def _advance(job: _Job) -> Awaited | None:
    """Run the work of a row as far as it goes; the document it needs next, None when it is done, given up or postponed."""
    row = job.row
    try:
        with job.gathered.in_use():
            _work(row)
    except Awaited as awaited:
        if time.monotonic() < job.ends:
            return awaited
        _fail(job, "it took too long")
    except (OperationalError, InterfaceError):
        raise
    except Unavailable as error:
        _fail(job, str(error))
    except (Rejected, KernelError) as error:
        _claims.fail(job.token, [Failure(row.id, row.attempts + 1, 0.0, str(error), dead=True)])
    except Exception as error:
        logger.exception("Fetch %d (%s %s) failed", row.id, row.kind, row.uri)
        _fail(job, f"{type(error).__name__}: {error}")
    else:
        _claims.finish_quickly(job.token, [row.id])
    return None


def _work(row: _Claimed) -> None:
    if row.kind == FetchKind.ACTIVITY:
        if row.activity_id is not None:
            act_upon(row.activity_id)
    elif row.kind == FetchKind.ACTOR:
        refresh_if_stale(row.uri)
    elif row.kind == FetchKind.ADDRESS:
        username, _at, domain = row.uri.partition("@")
        ask_for(username, domain)
    else:
        find_or_fetch_post(row.uri, publish_event=False, ancestors=row.remaining)


def _fail(job: _Job, error: str) -> None:
    attempts = job.row.attempts + 1
    failure = Failure(job.row.id, attempts, PAUSE * 4 ** (attempts - 1), error, dead=attempts >= ATTEMPTS)
    _claims.fail(job.token, [failure])


def _pause(host: str) -> None:
    """Leave a server alone that has not answered: what else waits for it would wait as long."""
    soon = clock.now() + timedelta(seconds=PAUSE)
    Fetch.objects.filter(idle(), host=host, dead_at=None, due_at__lt=soon).update(due_at=soon)


def _look_again(*, now: bool) -> None:
    waiting = Fetch.objects.filter(idle(), dead_at=None)
    if now:
        waiting = waiting.filter(due_at__lte=clock.now())
    if not waiting.exists():
        return
    with transaction.atomic():
        if now:
            publish(FetchesDue())
            return
        moment = clock.now() + timedelta(seconds=NEXT_LOOK)
        later = OutboxRow.objects.filter(queue="fetches", event=FetchesDue.__name__, dead_at=None)
        if not later.filter(due_at__gt=clock.now(), due_at__lte=moment).exists():
            publish(FetchesDue(), due_at=moment)


def forget_dead_fetches(older_than: timedelta = KEPT_DEAD) -> int:
    """Remove fetches that were given up: they may be asked for again; how many."""
    removed, _rows = Fetch.objects.filter(dead_at__lt=clock.now() - older_than).delete()
    return removed
