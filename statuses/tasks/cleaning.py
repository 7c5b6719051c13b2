"""Deletes on a schedule: files that were never attached, old idempotency keys, posts whose authors want that, and
rows of posts that were deleted."""

from __future__ import annotations

from celery import shared_task

from statuses.services import cards, idempotency, media, removing, retention


@shared_task
def remove_unattached_media() -> int:
    """Run `services.media.remove_unattached`; queue "media", once an hour."""
    return media.remove_unattached()


@shared_task
def forget_idempotency_keys() -> int:
    """Run `services.idempotency.forget_old`; queue "scheduler", once an hour."""
    return idempotency.forget_old()


@shared_task
def remove_unused_cards() -> int:
    """Run `services.cards.remove_unused_cards` and `forget_dead_card_fetches`; queue "media", once an hour."""
    return cards.remove_unused_cards() + cards.forget_dead_card_fetches()


@shared_task
def delete_old_posts() -> int:
    """Run `services.retention.delete_old_posts`; queue "scheduler", every ten minutes."""
    return retention.delete_old_posts()


@shared_task
def remove_deleted_statuses() -> int:
    """Run `services.removing.remove_deleted_statuses`; queue "scheduler", once an hour."""
    return removing.remove_deleted_statuses()
