"""The background work of the moderation app; Celery finds it here."""

from moderation.tasks.counting import count_activity

__all__ = ["count_activity"]
