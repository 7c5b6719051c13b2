"""Wakes a worker that drains a queue of the outbox, without delaying the caller."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Final

from social.kernel import redis
from social.kernel.circuits import Circuit
from social.kernel.ports import Port

logger = logging.getLogger(__name__)

# Seconds in which a second wake-up of the same queue is pointless: no drain has started for the first one yet.
_QUIET: Final = 2

#: Set by `social.broker` to a function that sends `social.tasks.drain_outbox` for the named queue.
waker: Final[Port[Callable[[str], None]]] = Port("social.kernel.wakes.waker")
circuit: Final = Circuit(1.0)


class _Drain(threading.local):
    """Which queue this thread drains at the moment, and whether it was woken meanwhile."""

    queue: str | None = None
    woken = False


_drain: Final = _Drain()


@contextlib.contextmanager
def draining(queue: str) -> Iterator[Callable[[], bool]]:
    """While this thread drains a queue, a wake-up by itself for that queue sets a flag instead of sending a message.

    Yields a function that returns whether the queue was woken by this very thread since the last call.
    """

    def was_woken() -> bool:
        woken, _drain.woken = _drain.woken, False
        return woken

    _drain.queue, _drain.woken = queue, False
    try:
        yield was_woken
    finally:
        _drain.queue = None


def _key(queue: str) -> str:
    return redis.key("cache", "wake", queue)


def wake(queue: str) -> None:
    """Have a worker drain `queue` soon. Never raises, and takes at most about a quarter of a second when Redis is dead.

    It may be lost with Redis or a worker: the sweep finds what is overdue. Without a plugged waker it does nothing.
    """
    if queue == _drain.queue:
        _drain.woken = True
    else:
        call(queue)


def call(queue: str) -> None:
    """As `wake`, and always by message: have another worker drain `queue` too."""
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


def clear(queue: str) -> None:
    """A drain has begun: a wake-up from now on is a new one. Never raises."""
    with redis.best_effort("clear a wake-up"):
        redis.client("cache").delete(_key(queue))
