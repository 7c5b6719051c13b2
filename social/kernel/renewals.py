"""Renews a short lease in the background while a long call runs."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from django.db import connection

logger = logging.getLogger(__name__)
# Seconds after which a thread without work ends.
_IDLE_SECONDS: Final = 60.0


@dataclass(eq=False, slots=True)
class _Task:
    renew: Callable[[], object]
    every: float
    end: float
    due: float
    busy: bool = False


class Renewals:
    """Background thread of a process, with a separate database connection, that runs only while leases are to be renewed.

    `during` calls `renew` in that thread, for the first time after `every` seconds, so that a shorter block only adds and
    removes a dictionary entry. An exception raised by `renew` is logged, and the next call comes on schedule. Once the block
    has ended, no renewal is running. After a fork the child starts a new thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tasks: dict[_Task, None] = {}
        self._thread: threading.Thread | None = None
        self._wakes_at = float("inf")
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._changed = threading.Condition()
        self._tasks = {}
        self._thread = None

    @contextmanager
    def during(self, renew: Callable[[], object], *, every: float, at_most: float) -> Iterator[None]:
        """Call `renew` at intervals of `every` seconds while the block runs, but for no longer than `at_most` seconds."""
        now = time.monotonic()
        task = _Task(renew, every, end=now + at_most, due=now + every)
        with self._changed:
            self._tasks[task] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="renewals", daemon=True)
                self._thread.start()
            elif task.due < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._tasks[task]
                # This waits for a running renewal, which could deadlock with the caller's next statement for the same rows.
                self._changed.wait_for(lambda: not task.busy)

    def _run(self) -> None:
        used_at = time.monotonic()
        while True:
            with self._changed:
                now = time.monotonic()
                if self._tasks:
                    used_at = now
                elif now - used_at >= _IDLE_SECONDS:
                    self._thread = None
                    return
                task = min(self._tasks, key=lambda task: task.due, default=None)
                self._wakes_at = min(now + _IDLE_SECONDS, task.due if task is not None else now + _IDLE_SECONDS)
                if task is None or task.due > now:
                    self._changed.wait(self._wakes_at - now)
                    continue
                task.due = now + task.every
                if task.due > task.end:
                    task.due = float("inf")
                task.busy = True
            self._renew(task)

    def _renew(self, task: _Task) -> None:
        try:
            task.renew()
        except Exception as error:
            logger.warning("A lease could not be renewed (%s: %s)", type(error).__name__, error)
        finally:
            # The connection goes back to the pool, which discards it if it is broken.
            connection.close()
            with self._changed:
                task.busy = False
                self._changed.notify_all()
