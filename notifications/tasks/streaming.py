"""Sends new notifications to open streams."""

from collections.abc import Sequence

import orjson

from notifications.events import NotificationMade, NotificationsMerged
from notifications.queries.listing import load_notifications, load_page
from notifications.serializers.notification import present
from timelines.services.broadcasting import broadcast_notification, listeners
from timelines.stores.messages import Event


def stream_notifications(events: Sequence[NotificationMade]) -> None:
    """Send each notification to its recipient's streams; entities are encoded only for recipients with an open stream."""
    by_recipient: dict[int, list[int]] = {}
    for event in events:
        by_recipient.setdefault(event.account_id, []).append(event.notification_id)
    for account_id in listeners(by_recipient):
        rows = load_notifications(by_recipient[account_id])
        for entity in present(load_page(rows, account_id)):
            broadcast_notification(account_id, orjson.dumps(entity))


def stream_merges(events: Sequence[NotificationsMerged]) -> None:
    """Send `notifications_merged` to the accounts' streams (contract, behaviours section 16)."""
    for account_id in listeners({event.account_id for event in events}):
        broadcast_notification(account_id, b"1", Event.NOTIFICATIONS_MERGED)
