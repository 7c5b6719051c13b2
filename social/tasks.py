"""The Celery tasks: those that drain the outbox, where a message only wakes a worker, and what runs at intervals."""

from __future__ import annotations

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
from social.schedule import SCHEDULE

logger = logging.getLogger("social.outbox")

#: Seconds after which a drain ends and wakes itself again: what keeps one busy for long is seen by the next process, too.
SLICE: Final = 5.0
#: Seconds a drain waits for further rows when this process has drained its queue within STREAM seconds: a single event is
#: run at once, a stream of events in batches, each at the cost of one.
BATCH_WINDOW: Final = 0.03
STREAM: Final = 0.25

_drained_at: dict[str, float] = {}


@app.task
def drain_outbox(*queues: str) -> None:
    """Have threads of each of `queues` drain it, and return. Without such threads (`threads_of`) drain one after the other."""
    start = threads_of.find()
    for queue in queues:
        if start is None:
            drain_queue(queue)
        else:
            start(queue, partial(_drain_in_thread, queue))


def _drain_in_thread(queue: str) -> None:
    # As Celery does for a task: the connection goes back to the pool, and an error is logged. The sweep tries again.
    try:
        drain_queue(queue)
    except Exception:
        logger.exception("Outbox queue %s could not be drained", queue)
    finally:
        connections.close_all()


def drain_queue(queue: str) -> None:
    """Run what is due in `queue`, for at most SLICE seconds and the claimed batch; what remains gets a new wake-up.

    A full batch is a sign of a backlog: one more worker is asked to join in, which may ask another.
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
            # A claim shares `limit` out among the keys it finds: one that took n rows gave each key room for at least
            # limit / n of them. With n * n below the limit no key was cut short, and what came later has its own
            # wake-up, or was published by a reaction of this very drain.
            if claimed * claimed < limit and not was_woken():
                return
            if time.monotonic() >= end:
                break
            if claimed == limit and not woke_another:
                woke_another = True
                wakes.call(queue)
        else:
            return
    wakes.call(queue)


@app.task
def sweep_outbox() -> None:
    """Wake the queues whose rows have been waiting although they are due: the wake-up or its worker was lost."""
    wakes.wake(*overdue_queues())


def _register(service: str) -> None:
    @app.task(name=service)
    def run() -> Any:
        return resolve_name(service)()


for _entry in SCHEDULE.values():
    if _entry["task"] != sweep_outbox.name:
        _register(_entry["task"])


class Heartbeat(bootsteps.StartStopStep):
    """Shows the doctor that this worker's main loop turns; started again with each new connection to the broker."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        """Begin, in the timer of the consumer, which forgets its entries when the connection is lost."""
        heartbeats.beat("worker")
        parent.timer.call_repeatedly(heartbeats.INTERVAL, heartbeats.beat, ("worker",))


app.steps["consumer"].add(Heartbeat)
