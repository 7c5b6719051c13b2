"""The background work about accounts; Celery finds it here."""

from accounts.tasks.blocking import end_timed_mutes
from accounts.tasks.cleaning import forget_archives, forget_ended_tokens, forget_imports, forget_tag_uses

__all__ = ["end_timed_mutes", "forget_archives", "forget_ended_tokens", "forget_imports", "forget_tag_uses"]
