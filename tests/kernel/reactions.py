"""Events and reactions for the tests of the outbox, found by name, so that other processes of a test can use them."""

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, transaction

from social.kernel.events import Event, publish
from social.kernel.outbox import drain

#: The type of the fixture `listen`.
Listen = Callable[..., Any]

_chance = random.Random(5)


class Happened(Event, key="thing:{thing_id}"):
    """A test event with an object and a number."""

    thing_id: int
    number: int
    loud: bool = True


class Aside(Event):
    """A test event whose order does not matter."""

    number: int


#: The numbers of the events in each call of `remember` and `stumble`.
calls: list[list[int]] = []
#: The numbers of events at which `stumble` and `stumble_in_database` fail.
poison: set[int] = set()


def commit(*events: Event) -> None:
    """Publish events in a transaction of their own."""
    with transaction.atomic():
        publish(*events)


def drain_everything(queue: str = "default", limit: int = 200) -> None:
    """Drain the queue until nothing is due."""
    while drain(queue, limit):
        pass


def reset() -> None:
    """Clear the recorded calls and the failing numbers."""
    calls.clear()
    poison.clear()


def write(events: Sequence[Happened], who: str = "") -> None:
    """Insert a row for each event."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO test_effect (key, number, who) SELECT k, n, %s FROM unnest(%s::text[], %s::int[])"
            " WITH ORDINALITY AS e (k, n, position) ORDER BY position",
            [who, [event.ordering_key() for event in events], [event.number for event in events]],
        )


def write_again(events: Sequence[Happened]) -> None:
    """Insert rows for a second subscriber of the same event."""
    write(events, "second")


def remember(events: Sequence[Happened]) -> None:
    """Record the call."""
    calls.append([event.number for event in events])


def stumble(events: Sequence[Happened]) -> None:
    """Record the call, and fail if a number is in `poison`."""
    remember(events)
    for event in events:
        if event.number in poison:
            raise ValueError(f"number {event.number} is poison, Authorization: Bearer abcdef0123456789abcdef")


def stumble_in_database(events: Sequence[Happened]) -> None:
    """Insert rows, then fail if a number is in `poison`."""
    write(events)
    stumble(events)


def write_late(events: Sequence[Happened]) -> None:
    """Insert rows after a random delay, so that reactions in the wrong order become visible."""
    time.sleep(_chance.uniform(0, 0.02))
    write(events)


def write_slowly(events: Sequence[Happened]) -> None:
    """Insert rows, and delay the end of the transaction."""
    write(events)
    time.sleep(0.03)


def write_and_hang(events: Sequence[Happened]) -> None:
    """Insert rows, and wait until the test kills this process."""
    write(events)
    print("in hand", flush=True)
    time.sleep(600)


def die(events: Sequence[Happened]) -> None:
    """If a number is 13, kill the process as a crash in C code would; otherwise insert rows."""
    if any(event.number == 13 for event in events):
        os.kill(os.getpid(), 9)
    write(events)


def effects(key: str | None = None) -> list[int]:
    """Return the numbers of the inserted rows, in order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM test_effect WHERE key = %s OR %s::text IS NULL ORDER BY id", [key, key])
        return [number for (number,) in cursor.fetchall()]
