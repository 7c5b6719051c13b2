"""Events and reactions for the tests of the outbox, by name, so that other processes of a test find them too."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence

from django.db import connection

from social.kernel.events import Event

_chance = random.Random(5)


class Happened(Event, key="thing:{thing_id}"):
    """The n-th thing that happened to something."""

    thing_id: int
    number: int
    loud: bool = True


class Aside(Event):
    """An event that needs no order."""

    number: int


#: Calls of `remember` and `stumble`: the numbers of each call.
calls: list[list[int]] = []
#: Numbers at which `stumble` and `stumble_in_database` fail.
poison: set[int] = set()


def reset() -> None:
    """Forget everything."""
    calls.clear()
    poison.clear()


def write(events: Sequence[Happened], who: str = "") -> None:
    """Leave one row per event."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO test_effect (key, number, who) SELECT k, n, %s FROM unnest(%s::text[], %s::int[])"
            " WITH ORDINALITY AS e (k, n, position) ORDER BY position",
            [who, [event.ordering_key() for event in events], [event.number for event in events]],
        )


def write_again(events: Sequence[Happened]) -> None:
    """A second subscriber of the same event."""
    write(events, "second")


def remember(events: Sequence[Happened]) -> None:
    """Note the call."""
    calls.append([event.number for event in events])


def stumble(events: Sequence[Happened]) -> None:
    """Note the call, and fail when one of the events is poison."""
    remember(events)
    for event in events:
        if event.number in poison:
            raise ValueError(f"number {event.number} is poison, Authorization: Bearer abcdef0123456789abcdef")


def stumble_in_database(events: Sequence[Happened]) -> None:
    """Write the effects, then fail when one of the events is poison."""
    write(events)
    stumble(events)


def write_late(events: Sequence[Happened]) -> None:
    """Take a while, now more, now less, and only then write: whoever ran ahead is seen to be ahead."""
    time.sleep(_chance.uniform(0, 0.02))
    write(events)


def write_slowly(events: Sequence[Happened]) -> None:
    """Write the effects, then take a while before the transaction can end."""
    write(events)
    time.sleep(0.03)


def write_and_hang(events: Sequence[Happened]) -> None:
    """Write the effects, then never come back: the test kills this process here."""
    write(events)
    print("in hand", flush=True)
    time.sleep(600)


def die(events: Sequence[Happened]) -> None:
    """Kill the process like a crash in C code when an event is number 13; write the others."""
    if any(event.number == 13 for event in events):
        os.kill(os.getpid(), 9)
    write(events)


def effects(key: str | None = None) -> list[int]:
    """The numbers of the effects so far, in order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT number FROM test_effect WHERE key = %s OR %s::text IS NULL ORDER BY id", [key, key])
        return [number for (number,) in cursor.fetchall()]
