"""Reads webhooks, and how they have answered."""

from __future__ import annotations

from moderation.models import Webhook, WebhookAttempt, WebhookEvent
from moderation.policies.webhooks import ATTEMPTS_KEPT


def find_webhooks(event: WebhookEvent) -> list[Webhook]:
    """Return the enabled webhooks that are notified of an event."""
    return list(Webhook.objects.filter(enabled=True, events__contains=[event]).order_by("id"))


def list_attempts(webhook: Webhook) -> list[WebhookAttempt]:
    """Return the attempts to call a webhook that are kept, newest first."""
    return list(WebhookAttempt.objects.filter(webhook=webhook).order_by("-id")[:ATTEMPTS_KEPT])
