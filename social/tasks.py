"""The Celery tasks: the drains of the outbox, whose messages only wake a worker, and the scheduled tasks."""

import logging
import time
from functools import partial
from pkgutil import resolve_name
from typing import Any, Final

from celery import bootsteps
from django.db import connections

from social.celery import app
from social.kernel import heartbeats, wakes
from social.kernel.outbox import drain, overdue_queues
from social.queues import QUEUES, threads_of
from social.schedule import FORMER_NAMES, SCHEDULE

logger = logging.getLogger("social.outbox")

#: Seconds after which a drain ends and sends itself a new wake-up, which another process can take.
SLICE: Final = 5.0
#: Seconds for which a drain waits for further rows if this process has drained the queue within the last STREAM seconds: a
#: single event is handled immediately, a stream of events in batches.
BATCH_WINDOW: Final = 0.03
STREAM: Final = 0.25

_drained_at: dict[str, float] = {}


@app.task
def drain_outbox(*queues: str) -> None:
    """Start draining each of `queues` on its own threads, and return; without threads (`threads_of`), drain them in order."""
    start = threads_of.find()
    for queue in queues:
        if start is None:
            drain_queue(queue)
        else:
            start(queue, partial(_drain_in_thread, queue))


def _drain_in_thread(queue: str) -> None:
    # Errors are logged and the connection is returned to the pool, as Celery does for a task. The sweep wakes the queue again.
    try:
        drain_queue(queue)
    except Exception:
        logger.exception("Outbox queue %s could not be drained", queue)
    finally:
        connections.close_all()


def drain_queue(queue: str) -> None:
    """Spend at most SLICE seconds running due rows of `queue`, then finish the batch and send a wake-up for the remaining rows.

    A full batch is a sign of a backlog, so one more worker is woken, which may wake another worker.
    """
    if time.monotonic() - _drained_at.get(queue, float("-inf")) < STREAM:
        time.sleep(BATCH_WINDOW)
    wakes.clear(queue)
    _drain(queue)
    _drained_at[queue] = time.monotonic()


def _drain(queue: str) -> None:
    limit = QUEUES[queue].batch if queue in QUEUES else 200
    end = time.monotonic() + SLICE
    woke_another = False
    with wakes.draining(queue) as was_woken:
        while claimed := drain(queue, limit):
            # A claim divides `limit` equally among the keys that it finds. If it returned n rows, there were at most n keys,
            # and each key was allowed at least limit / n rows. If limit / n is more than n, no key has used up its share, so
            # all due rows were claimed. Later rows have their own wake-up, unless a reaction of this drain published them
            # (`was_woken`).
            if claimed * claimed < limit and not was_woken():
                return
            if time.monotonic() >= end:
                break
            if claimed == limit and not woke_another:
                woke_another = True
                wakes.wake_others(queue)
        else:
            return
    wakes.wake_others(queue)


@app.task
def sweep_outbox() -> None:
    """Wake the queues with rows that are due but were not handled, because the wake-up or its worker was lost."""
    wakes.wake(*overdue_queues())


def _register(name: str, service: str) -> None:
    @app.task(name=name)
    def run() -> Any:
        return resolve_name(service)()


_services = {entry["task"] for entry in SCHEDULE.values()} - {sweep_outbox.name}
for _name, _service in {**{name: name for name in _services}, **FORMER_NAMES}.items():
    _register(_name, _service)


class Heartbeat(bootsteps.StartStopStep):
    """Sends heartbeats of this worker's main loop; started again with each new connection to the broker."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        """Start the heartbeats in the consumer's timer, which drops its entries when the connection is lost."""
        heartbeats.beat("worker")
        parent.timer.call_repeatedly(heartbeats.INTERVAL, heartbeats.beat, ("worker",))


app.steps["consumer"].add(Heartbeat)
