"""Computes trends on a schedule, and forgets what was decided about what is gone."""

from __future__ import annotations

from celery import shared_task

from timelines.services import trends


@shared_task
def compute_trends() -> int:
    """Run `services.trends.compute_trends`; queue "scheduler", every five minutes."""
    return trends.compute_trends()


@shared_task
def forget_reviews() -> int:
    """Run `services.trends.forget_reviews`; queue "scheduler", once an hour."""
    return trends.forget_reviews()
