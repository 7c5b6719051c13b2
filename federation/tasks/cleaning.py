"""Deletes on a schedule: processed activities, and deliveries that were given up."""

from __future__ import annotations

from celery import shared_task

from federation.inbound.fetching import forget_dead_fetches
from federation.inbound.processing import forget_processed, forget_undone
from federation.outbound.queueing import forget_given_up


@shared_task
def forget_old_activities() -> int:
    """Run `forget_processed`, `forget_undone`, `forget_given_up` and `forget_dead_fetches`; queue "scheduler", once an hour."""
    return forget_processed() + forget_undone() + forget_given_up() + forget_dead_fetches()
