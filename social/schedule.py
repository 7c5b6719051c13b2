"""How Celery is set up, and what runs at which time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from kombu import Exchange, Queue

from social.queues import QUEUES, WAKE_QUEUES
from social.settings import env

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
    "remove-unused-cards": {
        "task": "statuses.tasks.cleaning.remove_unused_cards",
        "schedule": timedelta(hours=1),
        "options": {"queue": "media", "expires": 3600},
    },
    "remove-deleted-posts": {
        "task": "statuses.tasks.cleaning.remove_deleted_statuses",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "delete-old-posts": {
        "task": "statuses.tasks.cleaning.delete_old_posts",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "scheduler", "expires": 600},
    },
    "trim-remote-copies": {
        "task": "accounts.tasks.cleaning.trim_remote_copies",
        "schedule": timedelta(minutes=1),
        "options": {"queue": "scheduler", "expires": 60},
    },
    "forget-old-activities": {
        "task": "federation.tasks.cleaning.forget_old_activities",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "end-timed-mutes": {
        "task": "accounts.tasks.blocking.end_timed_mutes",
        "schedule": timedelta(minutes=1),
        "options": {"queue": "scheduler", "expires": 60},
    },
    "forget-ended-tokens": {
        "task": "accounts.tasks.cleaning.forget_ended_tokens",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-ended-sessions": {
        "task": "accounts.tasks.cleaning.forget_ended_sessions",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-tag-uses": {
        "task": "accounts.tasks.cleaning.forget_tag_uses",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "erase-suspended": {
        "task": "accounts.tasks.cleaning.erase_suspended",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-previous-keys": {
        "task": "accounts.tasks.cleaning.forget_previous_keys",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-archives": {
        "task": "accounts.tasks.cleaning.forget_archives",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "forget-imports": {
        "task": "accounts.tasks.cleaning.forget_imports",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "remove-unconfirmed": {
        "task": "accounts.tasks.cleaning.remove_unconfirmed",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "count-activity": {
        "task": "moderation.tasks.counting.count_activity",
        "schedule": timedelta(minutes=10),
        "options": {"queue": "scheduler", "expires": 600},
    },
    "compute-trends": {
        "task": "timelines.tasks.trends.compute_trends",
        "schedule": timedelta(minutes=5),
        "options": {"queue": "scheduler", "expires": 300},
    },
    "forget-reviews-of-trends": {
        "task": "timelines.tasks.trends.forget_reviews",
        "schedule": timedelta(hours=1),
        "options": {"queue": "scheduler", "expires": 3600},
    },
    "note-absent-people": {
        "task": "timelines.tasks.presence.note_absent_people",
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
    # (social.runtime.messages): a message is a wake-up or a scheduled run, and the sweep makes up for a lost one.
    "task_queues": [
        Queue(name, Exchange("", type="direct"), routing_key=name, no_ack=True)
        for name in (*QUEUES, *WAKE_QUEUES.values())
    ],
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
    "beat_scheduler": "social.scheduler:LeaderScheduler",
    "beat_max_loop_interval": 2,
}
