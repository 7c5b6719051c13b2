"""Runs several calls at the same time, each in a thread with its own database connection."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from social.kernel.statements import rows_of
from tests.runtime.processes import eventually

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def at_once(number: int, action: Callable[[int], Any]) -> list[Any]:
    """Run `action(0)`, `action(1)`... at the same time, and return their results or exceptions."""
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
    """Wait until this many queries are waiting for a lock."""
    # Each check uses a new connection, because inside a transaction pg_stat_activity does not change.
    eventually(lambda: at_once(1, lambda _place: rows_of(_WAITING, {})) == [[(number,)]])
