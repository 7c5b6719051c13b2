"""What is thrown away by the clock: that a token was revoked."""

from __future__ import annotations

from celery import shared_task

from accounts.services import tokens


@shared_task
def forget_revoked_tokens() -> int:
    """Run `services.tokens.forget_revoked_tokens`; queue "scheduler", once an hour."""
    return tokens.forget_revoked_tokens()
