"""Reads webhooks, and the results of their calls."""

from typing import Final

from moderation.models import Webhook, WebhookAttempt, WebhookEvent
from moderation.policies.webhooks import ATTEMPTS_KEPT
from social.kernel.statements import rows_of

_AWAITED: Final = "SELECT TRUE FROM moderation_webhook WHERE enabled AND events @> %(events)s::text[] LIMIT 1"


def find_webhooks(event: WebhookEvent) -> list[Webhook]:
    """Return the enabled webhooks that are notified of an event."""
    return list(Webhook.objects.filter(enabled=True, events__contains=[event]).order_by("id"))


def is_awaited(event: WebhookEvent) -> bool:
    """Tell whether an enabled webhook is notified of an event."""
    return bool(rows_of(_AWAITED, {"events": [event.value]}))


def list_attempts(webhook: Webhook) -> list[WebhookAttempt]:
    """Return the stored attempts to call a webhook, newest first."""
    return list(WebhookAttempt.objects.filter(webhook=webhook).order_by("-id")[:ATTEMPTS_KEPT])
