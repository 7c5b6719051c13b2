"""What is thrown away by the clock: files nobody attached, keys of requests that are not repeated any more."""

from __future__ import annotations

from celery import shared_task

from statuses.services import idempotency, media


@shared_task
def remove_unattached_media() -> int:
    """Run `services.media.remove_unattached`; queue "media", once an hour."""
    return media.remove_unattached()


@shared_task
def forget_idempotency_keys() -> int:
    """Run `services.idempotency.forget_old`; queue "scheduler", once an hour."""
    return idempotency.forget_old()
