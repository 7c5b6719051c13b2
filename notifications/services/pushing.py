from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import connection

from notifications.events import NotificationMade, PushesDue
from notifications.queries.pushes import PUSHED_SQL
from social.kernel.events import publish

_QUEUE: Final = f"""
INSERT INTO notifications_push (host, subscription_id, notification_id)
SELECT p.host, p.id, n.id FROM {PUSHED_SQL} AND n.id = ANY(%(ids)s) ORDER BY n.id, p.id
ON CONFLICT DO NOTHING
"""  # noqa: S608 (constants)


def queue_pushes(events: Sequence[NotificationMade]) -> None:
    """Queue notifications for the push subscriptions of their recipients that want them, in one statement.

    Works in the caller's transaction; a notification is queued once for each subscription, however often this runs.
    Publishes PushesDue if any was queued.
    """
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE, {"ids": [event.notification_id for event in events]})
        if cursor.rowcount:
            publish(PushesDue())
