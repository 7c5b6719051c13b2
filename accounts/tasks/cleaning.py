"""What is thrown away on a schedule: that a token was revoked, and days of use of hashtags that no history shows."""

from __future__ import annotations

from celery import shared_task

from accounts.services import tags, tokens


@shared_task
def forget_revoked_tokens() -> int:
    """Run `services.tokens.forget_revoked_tokens`; queue "scheduler", once an hour."""
    return tokens.forget_revoked_tokens()


@shared_task
def forget_tag_uses() -> int:
    """Run `services.tags.forget_old_uses`; queue "scheduler", once an hour."""
    return tags.forget_old_uses()
