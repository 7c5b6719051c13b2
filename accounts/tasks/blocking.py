"""Ends mutes whose time is over."""

from __future__ import annotations

from celery import shared_task

from accounts.services import blocking


@shared_task
def end_timed_mutes() -> int:
    """Run `services.blocking.end_timed_mutes`; queue "scheduler", once a minute."""
    return blocking.end_timed_mutes()
