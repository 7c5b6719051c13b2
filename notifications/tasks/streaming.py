"""Carries fresh notifications to open streams."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from notifications.events import NotificationMade
from notifications.queries.listing import load_notifications
from notifications.queries.page import load_page
from notifications.serializers.presenting import present
from timelines.services.broadcasting import broadcast_notification, listeners


def stream_notifications(events: Sequence[NotificationMade]) -> None:
    """Send each notification to its recipient's streams; nothing is made for people who are not listening."""
    by_recipient: dict[int, list[int]] = {}
    for event in events:
        by_recipient.setdefault(event.account_id, []).append(event.notification_id)
    for account_id in listeners(by_recipient):
        rows = load_notifications(by_recipient[account_id])
        for entity in present(load_page(rows, account_id)):
            broadcast_notification(account_id, orjson.dumps(entity))
