"""Sends tasks to the broker, with short time-outs."""

import os
import time
from collections.abc import Sequence
from typing import Any, Final

from kombu import Connection, pools

from social.celery import app
from social.queues import QUEUES, WAKE_QUEUES
from social.schedule import CELERY

# A task may be published by a request which, unlike a worker, must not wait for the broker.
_TIMEOUTS: Final = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2, "max_retries": 0}
_DRAIN_SECONDS: Final = 60
_DEFAULT: Final = str(CELERY["task_default_queue"])
_connections: dict[int, Connection] = {}


def _publisher() -> Connection:
    """Return this process's connection for wake-ups. A forked process opens a connection of its own."""
    connection = _connections.get(os.getpid())
    if connection is None:
        options = {**CELERY["broker_transport_options"], **_TIMEOUTS}
        connection = _connections[os.getpid()] = Connection(app.conf.broker_url, transport_options=options)
    return connection


def send(task: str, arguments: tuple[Any, ...] = (), **options: Any) -> None:
    """Send a task to the broker; `options` are those of `apply_async`.

    Fails fast, with an error from kombu or redis-py.
    """
    began = time.monotonic()
    try:
        _send(task, arguments, options)
    except Exception:
        # An immediate error means that the pool's connection is dead, because the broker was restarted. The task is then sent
        # again on a new connection; after a time-out it is not sent again.
        if time.monotonic() - began > 0.05:
            raise
        _send(task, arguments, options)


def _send(task: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pools.producers[_publisher()].acquire(block=True, timeout=0.2) as producer:
        app.send_task(task, arguments, producer=producer, retry=False, **options)


def send_drain(queues: Sequence[str]) -> None:
    """Send the tasks that drain `queues`, one for each lane; plugged into `social.kernel.wakes.waker`.

    Fails fast, with an error from kombu or redis-py.
    """
    lanes: dict[str, list[str]] = {}
    for queue in queues:
        lanes.setdefault(QUEUES[queue if queue in QUEUES else _DEFAULT].lane, []).append(queue)
    for lane, members in lanes.items():
        # `declare` is empty, because social.schedule defines no exchange to which queues could be bound.
        send("social.tasks.drain_outbox", tuple(members), queue=WAKE_QUEUES[lane], expires=_DRAIN_SECONDS, declare=())
