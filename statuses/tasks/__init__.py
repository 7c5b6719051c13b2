"""The background work of the statuses app; Celery finds it here."""

from statuses.tasks.cleaning import (
    delete_old_posts,
    forget_idempotency_keys,
    remove_deleted_statuses,
    remove_unattached_media,
    remove_unused_cards,
)

__all__ = [
    "delete_old_posts",
    "forget_idempotency_keys",
    "remove_deleted_statuses",
    "remove_unattached_media",
    "remove_unused_cards",
]
