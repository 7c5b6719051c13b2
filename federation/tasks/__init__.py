"""The background work of the federation app; Celery finds it here."""

from federation.tasks.cleaning import forget_old_activities

__all__ = ["forget_old_activities"]
