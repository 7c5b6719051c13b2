"""Knows the queues, how Celery is set up, and what runs at which time."""

from __future__ import annotations

import logging
import os
import socket
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from celery.beat import ScheduleEntry, Scheduler
from kombu import Exchange, Queue

from social.settings import env

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueueTerms:
    """What a queue is for. `batch` is how many outbox rows one claim takes: few where each row is long work, so that
    other workers get their share and a killed worker holds up little."""

    purpose: str
    batch: int = 200


#: Outbox and Celery queues have the same names. A worker serves all of them, or those of its `-Q`.
QUEUES: Final[dict[str, QueueTerms]] = {
    "default": QueueTerms("reactions inside this server: previews, erasure, counters"),
    "feeds": QueueTerms("fan-out to home timelines, lists and streams"),
    "notifications": QueueTerms("notifications and web push"),
    "deliveries": QueueTerms("activities on their way to other servers"),
    "ingress": QueueTerms("activities received from other servers", batch=50),
    "fetches": QueueTerms("pages and documents of other servers", batch=20),
    "media": QueueTerms("conversion of uploads", batch=4),
    "mailers": QueueTerms("mail", batch=20),
    "scheduler": QueueTerms("what the clock asks for"),
}

#: Every periodic task: idempotent, cheap when there is nothing to do. Apps' tasks are named, not imported.
SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "sweep-outbox": {
        "task": "social.tasks.sweep_outbox",
        "schedule": timedelta(seconds=5),
        # A backlog of sweeps helps nobody: one that was not taken within its period is dropped.
        "options": {"queue": "scheduler", "expires": 5},
    },
    "remove-unattached-media": {
        "task": "statuses.tasks.cleaning.remove_unattached_media",
        "schedule": timedelta(hours=1),
        "options": {"queue": "media", "expires": 3600},
    },
    "forget-old-activities": {
        "task": "federation.tasks.cleaning.forget_old_activities",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-idempotency-keys": {
        "task": "statuses.tasks.cleaning.forget_idempotency_keys",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
}

_KEY_PREFIX: Final = "broker:"  # that of social.kernel.redis.key("broker"); the kernel cannot be loaded before Django

CELERY: Final[dict[str, Any]] = {
    "broker_url": env.celery_url(env.REDIS_URLS["broker"] or "redis://127.0.0.1:6379/0"),
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_transport_options": {
        "global_keyprefix": _KEY_PREFIX,
        "socket_keepalive": True,
    },
    # The nameless exchange puts a message straight into the queue. Named ones keep their bindings in Redis, and after a
    # FLUSHALL nobody could send anything until every worker has been restarted. Nothing is acknowledged
    # (social.runtime.messages): a message is a wake-up or a turn of the clock, and the sweep makes up for a lost one.
    "task_queues": [Queue(name, Exchange("", type="direct"), routing_key=name, no_ack=True) for name in QUEUES],
    "task_default_queue": "default",
    "task_default_exchange": "",
    "task_default_routing_key": "default",
    "task_create_missing_queues": False,
    "task_ignore_result": True,
    "task_store_errors_even_if_ignored": False,
    "task_serializer": "json",
    "accept_content": ["json"],
    "result_backend": None,
    "event_serializer": "json",
    "worker_prefetch_multiplier": 1,
    "worker_send_task_events": False,
    "worker_enable_remote_control": False,
    "worker_hijack_root_logger": False,
    "worker_max_tasks_per_child": 10_000,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "timezone": "UTC",
    "enable_utc": True,
    "beat_schedule": SCHEDULE,
    "beat_scheduler": "social.schedule:LeaderScheduler",
    "beat_max_loop_interval": 2,
}

LEASE_NAME: Final = "scheduler"
LEASE_SECONDS: Final = 15.0


class LeaderScheduler(Scheduler):
    """Celery's beat, kept in memory, of which any number may run: only the holder of the lease sends.

    All of them keep the same time; those that do not lead tick without sending. When the leader dies another one has the
    lease after at most LEASE_SECONDS, and sends at once what fell due since the lease was last renewed.
    """

    # Beat would wait here for a broker that is away, with ever longer pauses, and miss that it is back.
    producer = None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{time.time_ns()}"
        self._leads_until = 0.0
        self._asked_at = float("-inf")
        self._beaten_at = float("-inf")
        self._withheld: dict[str, tuple[float, ScheduleEntry]] = {}
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        """Take the entries of the configuration; nothing is read from or written to a file.

        A floor that is unplugged has nobody who would know its tasks.
        """
        from django.conf import settings

        apps = getattr(settings, "SCHEDULED_APPS", settings.INSTALLED_APPS)
        self.install_default_entries(self.schedule)
        entries = self.app.conf.beat_schedule.items()
        known = {name: entry for name, entry in entries if entry["task"].partition(".")[0] in apps}
        self.merge_inplace(known)

    @property
    def leads(self) -> bool:
        """Whether this process may send: its lease has not run out by its own clock, a little early."""
        return time.monotonic() < self._leads_until

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Renew the lease and the heartbeat when due, then do what beat does; the seconds to sleep."""
        from social.kernel import heartbeats

        self._renew()
        if time.monotonic() - self._beaten_at >= heartbeats.INTERVAL:
            self._beaten_at = time.monotonic()
            heartbeats.beat("scheduler")
        return float(super().tick(*args, **kwargs))

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        """Send the entry if this process leads, else remember that it was due. A dead broker costs this turn only."""
        if self.leads:
            self._send(entry)
        else:
            self._withheld[entry.name or ""] = (time.monotonic(), entry)

    def _send(self, entry: ScheduleEntry) -> None:
        from social.tasks import send

        try:
            send(str(entry.task), tuple(entry.args or ()), kwargs=entry.kwargs, **(entry.options or {}))
        except Exception as error:
            # Whatever the client libraries raise: the next turn comes by itself.
            logger.warning("The broker did not take %s (%s: %s)", entry.name, type(error).__name__, error)

    def close(self) -> None:
        """Give the lease back, so that the next one need not wait for it to run out."""
        from django.db import Error

        from social.kernel import leases

        if self.leads:
            try:
                leases.release(LEASE_NAME, self.holder)
            except Error:
                logger.info("The schedule's lease could not be given back: it runs out by itself")
        super().close()

    def _renew(self) -> None:
        from django.db import Error, close_old_connections

        from social.kernel import leases

        now = time.monotonic()
        if now - self._asked_at < LEASE_SECONDS / 5:
            return
        self._asked_at = now
        led = self.leads
        try:
            close_old_connections()
            if not leases.acquire(LEASE_NAME, self.holder, LEASE_SECONDS):
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
