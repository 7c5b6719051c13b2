"""The background work of the floor of people; Celery finds it here."""

from accounts.tasks.cleaning import forget_revoked_tokens

__all__ = ["forget_revoked_tokens"]
