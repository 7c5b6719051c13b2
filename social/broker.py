"""How a task is handed to the broker within a moment, or not at all."""

from __future__ import annotations

import os
import time
from typing import Any, Final

from kombu import Connection, pools

from social.celery import app
from social.queues import QUEUES
from social.schedule import CELERY

# A publisher may be somebody's POST: unlike a worker it gives up after a moment.
_QUICK: Final = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2, "max_retries": 0}
_connections: dict[int, Connection] = {}


def _publisher() -> Connection:
    """This process's connection for wake-ups; one that was inherited by a fork is left to the parent."""
    connection = _connections.get(os.getpid())
    if connection is None:
        options = {**CELERY["broker_transport_options"], **_QUICK}
        connection = _connections[os.getpid()] = Connection(app.conf.broker_url, transport_options=options)
    return connection


def send(task: str, arguments: tuple[Any, ...] = (), **options: Any) -> None:
    """Hand a task to the broker, or raise what kombu and redis-py raise within a moment; `options` as in `apply_async`."""
    began = time.monotonic()
    try:
        _send(task, arguments, options)
    except Exception:
        # At once means a connection that died in the pool (the broker was restarted): a new one is worth a try. A
        # timeout is not.
        if time.monotonic() - began > 0.05:
            raise
        _send(task, arguments, options)


def _send(task: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pools.producers[_publisher()].acquire(block=True, timeout=0.2) as producer:
        app.send_task(task, arguments, producer=producer, retry=False, **options)


def send_drain(queue: str) -> None:
    """Send the task that drains `queue`: what is plugged into `social.kernel.wakes.waker`. Raises as `send`."""
    target = queue if queue in QUEUES else str(CELERY["task_default_queue"])
    send("social.tasks.drain_outbox", (queue,), queue=target, expires=60)
