"""What is counted on a schedule."""

from __future__ import annotations

from celery import shared_task

from moderation.services import activity


@shared_task
def count_activity() -> None:
    """Run `services.activity.count_activity`; queue "scheduler", every ten minutes."""
    activity.count_activity()
