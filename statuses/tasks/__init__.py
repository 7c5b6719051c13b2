"""The background work of the statuses app; Celery finds it here."""

from statuses.tasks.cleaning import forget_idempotency_keys, remove_unattached_media

__all__ = ["forget_idempotency_keys", "remove_unattached_media"]
