"""Reads notifications, with everything their entities need, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS

from notifications.models import Notification
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.statements import fetch

_FIELDS: Final = [field.attname for field in Notification._meta.concrete_fields]
# Those of suspended senders and of deleted posts are not shown.
_SHOWN: Final = f"""
SELECT {", ".join(f"n.{name}" for name in _FIELDS)} FROM notifications_notification n
 WHERE n.account_id = %(account)s
   AND (SELECT a.suspended_at IS NULL FROM accounts_account a WHERE a.id = n.from_account_id)
   AND (n.status_id IS NULL OR (SELECT s.deleted_at IS NULL FROM statuses_status s WHERE s.id = n.status_id))
"""  # noqa: S608 (constants)


@dataclass(frozen=True, slots=True)
class NotificationFilter:
    """Which notifications: of these types, without those types, of one sender; with those that were filtered.

    Asking for one sender shows filtered ones as well (SEED-071; contract, behaviours section 13).
    """

    types: Collection[str] = ()
    exclude_types: Collection[str] = ()
    from_account_id: int | None = None
    include_filtered: bool = False


def list_notifications(account_id: int, wanted: NotificationFilter, cursor: Cursor) -> list[Notification]:
    """One's own notifications at a cursor, newest first."""
    sql = _SHOWN
    if not wanted.include_filtered and wanted.from_account_id is None:
        sql += " AND NOT n.filtered"
    if wanted.types:
        sql += " AND n.type = ANY(%(types)s)"
    if wanted.exclude_types:
        sql += " AND n.type <> ALL(%(excluded)s)"
    if wanted.from_account_id is not None:
        sql += " AND n.from_account_id = %(sender)s"
    parameters = {
        "account": account_id,
        "types": list(wanted.types),
        "excluded": list(wanted.exclude_types),
        "sender": wanted.from_account_id,
        **cursor.parameters,
    }
    return cursor.newest_first(_rows(sql + cursor.ordered("n.id"), parameters))


def find_notification(account_id: int, notification_id: int) -> Notification:
    """One of one's own notifications. Raises NotFound."""
    for row in _rows(f"{_SHOWN} AND n.id = %(id)s", {"account": account_id, "id": notification_id}):
        return row
    raise NotFound


def _rows(sql: str, parameters: dict[str, Any]) -> list[Notification]:
    return [Notification.from_db(DEFAULT_DB_ALIAS, _FIELDS, values) for values in fetch(sql, parameters)]
