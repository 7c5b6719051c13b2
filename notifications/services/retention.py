"""Deletes notifications whose retention period is over."""

from typing import Final

from django.conf import settings

from notifications.models import Notification
from social.kernel import clock
from social.kernel.ids import first_at

BATCH_SIZE: Final = 1000


def forget_old() -> int:
    """Delete notifications older than KEEP_NOTIFICATIONS_DAYS (by their ids), the oldest first; return their number."""
    before = clock.days_ago(settings.KEEP_NOTIFICATIONS_DAYS)
    forgotten = 0
    while before is not None:
        rows = Notification.objects.filter(id__lt=first_at(before)).order_by("id")
        ids = list(rows.values_list("id", flat=True)[:BATCH_SIZE])
        Notification.objects.filter(id__one_of=ids).delete()
        forgotten += len(ids)
        if len(ids) < BATCH_SIZE:
            break
    return forgotten
