"""Knows how to tell a worker that a queue of the outbox has work, without ever holding up the one who tells."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from social.kernel import redis
from social.kernel.circuits import Circuit
from social.kernel.ports import Port

logger = logging.getLogger(__name__)

# Seconds in which a second wake-up of the same queue is pointless: the first has not been heard yet.
_QUIET: Final = 2

#: Answered by the front door with a function that sends `social.tasks.drain_outbox` for the named queue.
waker: Final[Port[Callable[[str], None]]] = Port("social.kernel.wakes.waker")
circuit: Final = Circuit(1.0)


def _key(queue: str) -> str:
    return redis.key("cache", "wake", queue)


def wake(queue: str) -> None:
    """Have a worker drain `queue` soon. Never raises, and takes at most about a quarter of a second when Redis is dead.

    It may be lost with Redis or a worker: the sweep finds what is overdue. Without a plugged waker it does nothing.
    """
    send = waker.find()
    if send is None or circuit.is_open:
        return
    try:
        if redis.client("cache").set(_key(queue), 1, nx=True, ex=_QUIET):
            send(queue)
    except Exception as error:
        # Whatever the client libraries raise: the rows are committed, and the caller is somebody's POST.
        circuit.failed()
        logger.warning(
            "No wake-up for outbox queue %s (%s: %s): the sweep will see to it", queue, type(error).__name__, error
        )


def heard(queue: str) -> None:
    """A drain has begun: a wake-up from now on is a new one. Never raises."""
    with redis.best_effort("clear a wake-up"):
        redis.client("cache").delete(_key(queue))
