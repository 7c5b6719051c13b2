"""Settings of Celery, and the schedule of its tasks."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlsplit

from kombu import Exchange, Queue

from social.queues import QUEUES, WAKE_QUEUES
from social.settings import env


def _entry(task: str, queue: str = "scheduler", **period: float) -> dict[str, Any]:
    """Make a schedule entry. A message that no worker has taken within the period expires; the next message replaces it."""
    every = timedelta(**period)
    return {"task": task, "schedule": every, "options": {"queue": queue, "expires": every.total_seconds()}}


#: Services that run at intervals, each given by its name (`pkgutil.resolve_name`). The services are idempotent, and cheap if
#: there is nothing to do.
SCHEDULE: Final[dict[str, dict[str, Any]]] = {
    "sweep-outbox": _entry("social.tasks.sweep_outbox", seconds=5),
    "end-timed-mutes": _entry("accounts.services.blocking.end_timed_mutes", minutes=1),
    "make-missing-keys": _entry("accounts.services.key_pairs.make_missing_keys", "media", minutes=1),
    "trim-remote-copies": _entry("accounts.copies.services.removal.trim_copies", minutes=1),
    "ask-for-software": _entry("federation.remote.software.request_software", minutes=10),
    "compute-trends": _entry("timelines.services.trends.compute_trends", minutes=5),
    "count-activity": _entry("moderation.services.activity.count_activity", minutes=10),
    "delete-old-posts": _entry("statuses.services.retention.delete_old_posts", minutes=10),
    "remove-old-remote-posts": _entry("statuses.services.remote_retention.remove_old_remote_posts", minutes=10),
    "fetch-blocklists": _entry("moderation.blocklists.services.taking.queue_fetches", minutes=10),
    "forget-given-up": _entry("social.kernel.runner.forget_given_up", minutes=10),
    "erase-suspended": _entry("accounts.services.sanctions.erase_suspended", hours=1),
    "retention": _entry("moderation.services.retention.clean_up", hours=1),
    "forget-archives": _entry("accounts.transfers.services.archives.forget_archives", hours=1),
    "forget-evidence": _entry("moderation.services.evidence_files.forget_evidence", hours=1),
    "forget-ended-sessions": _entry("accounts.identity.services.sessions.forget_ended_sessions", hours=1),
    "forget-ended-tokens": _entry("accounts.identity.services.tokens.forget_ended_tokens", hours=1),
    "forget-idempotency-keys": _entry("statuses.services.idempotency.forget_old", hours=1),
    "forget-imports": _entry("accounts.transfers.services.importing.forget_imports", hours=1),
    "forget-past-imports": _entry("accounts.transfers.services.past.forget_past_imports", hours=1),
    "forget-old-refusals": _entry("accounts.identity.services.sign_up_blocks.forget_old_refusals", hours=1),
    "forget-old-mails": _entry("accounts.services.retention.forget_written_mails", hours=1),
    "forget-old-notifications": _entry("notifications.services.retention.forget_old", hours=1),
    "forget-previous-keys": _entry("accounts.services.key_pairs.forget_previous_keys", hours=1),
    "forget-processed-activities": _entry("federation.inbound.processing.forget_processed", hours=1),
    "forget-refusals": _entry("social.kernel.refusals.forget_refusals", hours=1),
    "forget-reviews-of-trends": _entry("timelines.services.trends.forget_reviews", hours=1),
    "forget-rule-matches": _entry("accounts.spam.services.matches.forget_matches", hours=1),
    "forget-tag-uses": _entry("accounts.services.tags.forget_old_uses", hours=1),
    "forget-threads": _entry("federation.remote.threads.forget_walks", hours=1),
    "forget-tombstones": _entry("federation.inbound.processing.forget_tombstones", hours=1),
    "forget-undone-activities": _entry("federation.inbound.processing.forget_undone", hours=1),
    "note-absent-people": _entry("timelines.services.presence.note_absent_people", hours=1),
    "queue-summaries": _entry("notifications.senders.mails.queue_summaries", hours=1),
    "queue-staff-digests": _entry("moderation.services.mails.queue_digests", hours=1),
    "refresh-remote-accounts": _entry("federation.remote.refreshing.request_unseen", hours=1),
    "remove-deleted-posts": _entry("statuses.services.deleting.remove_deleted_statuses", hours=1),
    "remove-unattached-media": _entry("statuses.services.media.remove_unattached", "media", hours=1),
    "remove-unconfirmed": _entry("accounts.identity.services.confirmations.remove_unconfirmed", hours=1),
    "remove-unused-cards": _entry("statuses.services.cards.remove_unused_cards", "media", hours=1),
}

#: New names of services that have moved, keyed by their old names, which schedulers of earlier releases still send.
FORMER_NAMES: Final = {
    "statuses.services.removing.remove_deleted_statuses": "statuses.services.deleting.remove_deleted_statuses",
    "accounts.services.archives.forget_archives": "accounts.transfers.services.archives.forget_archives",
    "accounts.services.importing.forget_imports": "accounts.transfers.services.importing.forget_imports",
    "accounts.services.copy_removal.trim_copies": "accounts.copies.services.removal.trim_copies",
    "accounts.services.rule_matches.forget_matches": "accounts.spam.services.matches.forget_matches",
}


def installed_schedule(apps: Collection[str]) -> dict[str, Any]:
    """Return the entries whose services belong to installed apps, because workers do not have the tasks of other apps."""
    return {name: entry for name, entry in SCHEDULE.items() if entry["task"].partition(".")[0] in apps}


def celery_url(redis_url: str) -> str:
    """Return the URL of a Redis server in the spelling of kombu, which writes a socket as `redis+socket://`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    db = dict(pair.partition("=")[::2] for pair in parts.query.split("&") if pair).get("db", "0")
    return f"redis+socket://{quote(parts.path)}?virtual_host={db}"


_KEY_PREFIX: Final = "broker:"  # as in social.kernel.redis.key("broker"), which cannot be imported before Django

CELERY: Final[dict[str, Any]] = {
    "broker_url": celery_url(env.REDIS_URLS["broker"] or "redis://127.0.0.1:6379/0"),
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_transport_options": {
        "global_keyprefix": _KEY_PREFIX,
        "socket_keepalive": True,
    },
    # The nameless exchange puts a message straight into the queue. Named exchanges store their bindings in Redis, so that
    # after a FLUSHALL no process could send a message until every worker has been restarted. Messages are not acknowledged
    # (social.runtime.lanes): each is a wake-up or a scheduled run, and the sweep replaces lost wake-ups.
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
