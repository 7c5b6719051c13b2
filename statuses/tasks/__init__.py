"""The background work of the floor of posts; Celery finds it here."""

from statuses.tasks.cleaning import forget_idempotency_keys, remove_unattached_media

__all__ = ["forget_idempotency_keys", "remove_unattached_media"]
