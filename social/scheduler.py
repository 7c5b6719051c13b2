"""Scheduler of Celery's tasks. If several run, only the holder of a lease sends the tasks."""

import logging
import os
import socket
import time
from typing import Any, Final

from celery.beat import ScheduleEntry, Scheduler

from social.broker import send
from social.schedule import installed_schedule

logger = logging.getLogger(__name__)

LEASE_NAME: Final = "scheduler"
LEASE_SECONDS: Final = 15.0


class LeaderScheduler(Scheduler):
    """Celery's beat with its state in memory. Any number of schedulers may run: only the holder of the lease sends tasks.

    All schedulers have the same schedule; a scheduler without the lease ticks without sending. When the leader dies, another
    scheduler gets the lease after at most LEASE_SECONDS, and immediately sends the tasks that have become due since the lease
    was last renewed.
    """

    # While the broker is down, Beat's own producer would retry at ever longer intervals; it would be slow to notice that the
    # broker is back.
    producer = None  # type: ignore[assignment]  # a cached property there

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{time.time_ns()}"
        self._leads_until = 0.0
        self._asked_at = float("-inf")
        self._beaten_at = float("-inf")
        self._withheld: dict[str, tuple[float, ScheduleEntry]] = {}
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        from django.conf import settings

        apps = getattr(settings, "SCHEDULED_APPS", settings.INSTALLED_APPS)
        self.install_default_entries(self.schedule)
        self.merge_inplace(installed_schedule(apps))

    @property
    def leads(self) -> bool:
        """Tell whether this process may send: whether its lease lasts for another second, by this process's clock."""
        return time.monotonic() < self._leads_until

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Renew the lease and the heartbeat if due, then tick like Celery's beat, and return the seconds to sleep."""
        from social.kernel import heartbeats

        self._renew()
        if time.monotonic() - self._beaten_at >= heartbeats.INTERVAL:
            self._beaten_at = time.monotonic()
            heartbeats.beat("scheduler")
        return float(super().tick(*args, **kwargs))

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send the entry's task if this process has the lease; otherwise record that it was due.

        Without a broker, this run is lost.
        """
        if self.leads:
            self._send(entry)
        else:
            self._withheld[entry.name or ""] = (time.monotonic(), entry)

    def _send(self, entry: ScheduleEntry) -> None:
        try:
            send(str(entry.task), tuple(entry.args or ()), kwargs=entry.kwargs, **(entry.options or {}))
        except Exception as error:
            # The client libraries raise many types of errors. The task is sent again after its interval.
            logger.warning("The broker did not take %s (%s: %s)", entry.name, type(error).__name__, error)

    def close(self) -> None:
        """Release the lease, so that the next leader need not wait until it expires."""
        from django.db import Error

        from social.kernel import locks

        if self.leads:
            try:
                locks.release(LEASE_NAME, self.holder)
            except Error:
                logger.info("The schedule's lease could not be given back: it runs out by itself")
        super().close()

    def _renew(self) -> None:
        from django.db import Error, close_old_connections

        from social.kernel import locks

        now = time.monotonic()
        if now - self._asked_at < LEASE_SECONDS / 5:
            return
        self._asked_at = now
        led = self.leads
        try:
            close_old_connections()
            if not locks.acquire(LEASE_NAME, self.holder, LEASE_SECONDS):
                self._leads_until = 0.0
                return
        except Error as error:
            logger.warning("The schedule's lease could not be renewed (%s)", error)
            return
        finally:
            close_old_connections()
        self._leads_until = now + LEASE_SECONDS - 1.0
        if not led:
            logger.info("This process leads the schedule now: %s", self.holder)
            for since, entry in self._withheld.values():
                if now - since <= LEASE_SECONDS * 2:
                    self._send(entry)
        self._withheld.clear()
