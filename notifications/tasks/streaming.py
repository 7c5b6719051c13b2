"""Carries fresh notifications to open streams."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from notifications.events import NotificationMade
from notifications.models import Notification
from notifications.queries.page import load_page
from notifications.serializers.presenting import present
from timelines.services.broadcasting import broadcast_notification, has_listener


def stream_notifications(events: Sequence[NotificationMade]) -> None:
    """Send each notification to its recipient's streams; nothing is made for people who are not listening."""
    rows = Notification.objects.filter(id__in=[event.notification_id for event in events], filtered=False)
    by_recipient: dict[int, list[Notification]] = {}
    for row in rows.order_by("id"):
        by_recipient.setdefault(row.account_id, []).append(row)
    for account_id, notifications in by_recipient.items():
        if has_listener(account_id):
            for entity in present(load_page(notifications, account_id)):
                broadcast_notification(account_id, orjson.dumps(entity))
