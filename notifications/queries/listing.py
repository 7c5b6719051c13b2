"""Reads notifications, with everything their entities need, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from notifications.models import Notification
from social.kernel.errors import NotFound


def list_notifications(
    account_id: int,
    *,
    types: Collection[str] = (),
    exclude_types: Collection[str] = (),
    from_account_id: int | None = None,
    include_filtered: bool = False,
) -> QuerySet[Notification]:
    """One's own notifications. Those of suspended senders and of deleted posts are not shown.

    Asking for one sender shows filtered ones as well (SEED-071; contract, behaviours section 13).
    """
    found = Notification.objects.filter(account_id=account_id, from_account__suspended_at=None, status__deleted_at=None)
    if not include_filtered and from_account_id is None:
        found = found.filter(filtered=False)
    if types:
        found = found.filter(type__in=types)
    if exclude_types:
        found = found.exclude(type__in=exclude_types)
    if from_account_id is not None:
        found = found.filter(from_account_id=from_account_id)
    return found


def find_notification(account_id: int, notification_id: int) -> Notification:
    """One of one's own notifications. Raises NotFound."""
    row = list_notifications(account_id, include_filtered=True).filter(id=notification_id).first()
    if row is None:
        raise NotFound
    return row
