"""The background work of the timelines app, and reactions that present entities; Celery finds the tasks here."""

from timelines.tasks.presence import note_absent_people
from timelines.tasks.trends import compute_trends, forget_reviews

__all__ = ["compute_trends", "forget_reviews", "note_absent_people"]
