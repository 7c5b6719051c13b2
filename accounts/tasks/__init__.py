"""The background work about accounts; Celery finds it here."""

from accounts.tasks.cleaning import forget_revoked_tokens, forget_tag_uses

__all__ = ["forget_revoked_tokens", "forget_tag_uses"]
