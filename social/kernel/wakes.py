"""Wakes the workers that drain queues of the outbox, without delaying the caller."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from social.kernel import redis
from social.kernel.circuits import Circuit
from social.kernel.ports import Port

logger = logging.getLogger(__name__)

# Seconds after a wake-up during which no second wake-up of the same queue is sent, because no drain has started for the first
# one yet.
_REPEAT_SECONDS: Final = 2

#: Set by `social.broker` to a function that sends `social.tasks.drain_outbox` for the named queues, in one message for
#: each lane they belong to.
waker: Final[Port[Callable[[Sequence[str]], None]]] = Port("social.kernel.wakes.waker")
circuit: Final = Circuit(1.0)
# Sets the keys that do not exist yet, and returns their positions, from 1 on.
_MARK: Final = redis.Script(
    "cache",
    """
local fresh = {}
for place, name in ipairs(KEYS) do
    if redis.call('SET', name, 1, 'NX', 'EX', ARGV[1]) then fresh[#fresh + 1] = place end
end
return fresh
""",
)


class _Drain(threading.local):
    """The queue that this thread is draining, and whether the queue has been woken since."""

    queue: str | None = None
    woken = False


_drain: Final = _Drain()


@contextlib.contextmanager
def draining(queue: str) -> Iterator[Callable[[], bool]]:
    """Mark this thread as draining a queue: a wake-up for that queue by the thread itself sets a flag instead of sending a
    message. Yields a function that returns whether this thread has woken the queue since the last call.
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


def wake(*queues: str) -> None:
    """Make workers drain `queues` soon. Never raises, and takes at most about a quarter of a second when Redis is down.

    A queue with a pending wake-up gets no second one. If a wake-up is lost with Redis or a worker, the sweep finds the overdue
    rows. Does nothing if no waker is plugged in.
    """
    if _drain.queue in queues:
        _drain.woken = True
    wake_others(*(queue for queue in queues if queue != _drain.queue))


def wake_others(*queues: str) -> None:
    """Wake workers as `wake` does, but always by a message, so that other workers, too, drain `queues`."""
    send = waker.find()
    if send is None or not queues or circuit.is_open:
        return
    try:
        fresh = [queues[place - 1] for place in _MARK([_key(queue) for queue in queues], (_REPEAT_SECONDS,))]
        if fresh:
            send(fresh)
    except Exception as error:
        # Every error of the client libraries is caught, because the rows are committed, and the caller's request must not fail.
        circuit.failed()
        logger.warning(
            "No wake-up for the outbox queues %s (%s: %s): the sweep will see to it",
            *(", ".join(queues), type(error).__name__, error),
        )


def clear(queue: str) -> None:
    """Clear the pending wake-up of a queue when its drain begins, so that the next wake-up is sent. Never raises."""
    with redis.best_effort("clear a wake-up"):
        redis.ask("cache", "DEL", _key(queue))
