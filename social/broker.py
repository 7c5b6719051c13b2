"""How a task is handed to the broker within a moment, or not at all."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from uuid import uuid4

import orjson
from kombu import Connection, Producer, pools

from social.celery import app
from social.kernel import redis
from social.queues import QUEUES, WAKE_QUEUES
from social.schedule import CELERY

# A publisher may be somebody's POST: unlike a worker it gives up after a moment.
_QUICK: Final = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2, "max_retries": 0}
_DEFAULT: Final = str(CELERY["task_default_queue"])
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


def send_drain(queues: Sequence[str]) -> None:
    """Send the tasks that drain `queues`, one for each lane: what is plugged into `social.kernel.wakes.waker`.

    Raises RedisError within a moment. Every write of anybody ends with one, and Celery takes eight times as long for it.
    """
    lanes: dict[str, list[str]] = {}
    for queue in queues:
        lanes.setdefault(QUEUES[queue if queue in QUEUES else _DEFAULT].lane, []).append(queue)
    for lane, members in lanes.items():
        redis.ask("broker", "LPUSH", redis.key("broker", WAKE_QUEUES[lane]), _drain_message(lane, tuple(members)))


_DRAIN_SECONDS: Final = 60
# What stands in a message once and is another in each.
_ID: Final = "00000000-0000-4000-8000-000000000000"
_EXPIRY: Final = "<expiry>"
# Queues in memory are everybody's: two at a time could take each other's message.
_one_pattern: Final = threading.Lock()


def _drain_message(lane: str, queues: tuple[str, ...]) -> bytes:
    expiry = (datetime.now(UTC) + timedelta(seconds=_DRAIN_SECONDS)).isoformat()
    text = _drain_pattern(lane, queues)
    return text.replace(_ID.encode(), str(uuid4()).encode()).replace(_EXPIRY.encode(), expiry.encode())


@lru_cache(maxsize=256)
def _drain_pattern(lane: str, queues: tuple[str, ...]) -> bytes:
    """The message as Celery and kombu make it, in the form in which it lies in a list of Redis."""
    with _one_pattern, Connection("memory://") as connection:
        # What the arguments look like in a log is said here, and there is nothing to declare (social.schedule).
        app.send_task(
            "social.tasks.drain_outbox",
            queues,
            task_id=_ID,
            producer=Producer(connection),
            queue=WAKE_QUEUES[lane],
            expires=_DRAIN_SECONDS,
            declare=(),
            argsrepr=", ".join(queues),
            kwargsrepr="",
        )
        message = connection.default_channel._get(WAKE_QUEUES[lane])  # type: ignore[attr-defined]  # of kombu's channel in memory
    message["headers"]["expires"] = _EXPIRY
    message["properties"]["delivery_tag"] = _ID
    return orjson.dumps(message)
