"""Does several things at the same moment, each in a thread with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from social.kernel.statements import rows_of
from tests.runtime.processes import eventually

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def at_once(number: int, action: Callable[[int], Any]) -> list[Any]:
    """What `action(0)`, `action(1)`... answered, all begun at the same moment; an exception is an answer."""
    barrier = threading.Barrier(number)
    answers: list[Any] = [None] * number

    def run(place: int) -> None:
        try:
            barrier.wait(10)
            answers[place] = action(place)
        except Exception as error:
            answers[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return answers


def until_waiting(number: int) -> None:
    """Return when so many statements wait for a lock."""
    # Asked on another connection each time: a transaction sees the same activity until it ends.
    eventually(lambda: at_once(1, lambda _place: rows_of(_WAITING, {})) == [[(number,)]])
