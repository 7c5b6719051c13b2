"""Computes trends on a schedule."""

from __future__ import annotations

from celery import shared_task

from timelines.services import trends


@shared_task
def compute_trends() -> int:
    """Run `services.trends.compute_trends`; queue "scheduler", every five minutes."""
    return trends.compute_trends()
