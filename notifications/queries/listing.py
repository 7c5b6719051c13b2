"""Reads notifications, with everything their entities need, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.statements import fetch

# The columns are the fields of ListedNotification, in their order.
_FOUND: Final = """
SELECT n.id, n.type, n.created_at, n.from_account_id, n.status_id, n.report_id, n.strike_id, n.group_key, n.filtered
  FROM notifications_notification n
"""
# Those of suspended senders and of deleted posts are not shown.
_SHOWN: Final = f"""{_FOUND}
 WHERE n.account_id = %(account)s
   AND (SELECT a.suspended_at IS NULL FROM accounts_account a WHERE a.id = n.from_account_id)
   AND (n.status_id IS NULL OR (SELECT s.deleted_at IS NULL FROM statuses_status s WHERE s.id = n.status_id))
"""  # noqa: S608 (constants)


@dataclass(slots=True)
class ListedNotification:
    """A notification as far as it is shown; a model takes five times as long to make."""

    id: int
    type: str
    created_at: datetime
    from_account_id: int
    status_id: int | None
    report_id: int | None
    strike_id: int | None
    group_key: str | None
    filtered: bool


@dataclass(frozen=True, slots=True)
class NotificationFilter:
    """Which notifications: of these types, without those types, of one sender; with those that were filtered.

    Asking for one sender shows filtered ones as well (SEED-071; contract, behaviours section 13).
    """

    types: Collection[str] = ()
    exclude_types: Collection[str] = ()
    from_account_id: int | None = None
    include_filtered: bool = False


def list_notifications(account_id: int, wanted: NotificationFilter, cursor: Cursor) -> list[ListedNotification]:
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


def find_notification(account_id: int, notification_id: int) -> ListedNotification:
    """One of one's own notifications. Raises NotFound."""
    for row in _rows(f"{_SHOWN} AND n.id = %(id)s", {"account": account_id, "id": notification_id}):
        return row
    raise NotFound


def load_notifications(notification_ids: Collection[int]) -> list[ListedNotification]:
    """Those of these notifications that are not filtered, oldest first."""
    return _rows(
        f"{_FOUND} WHERE n.id = ANY((SELECT %(ids)s)::bigint[]) AND NOT n.filtered ORDER BY n.id",
        {"ids": list(notification_ids)},
    )


def _rows(sql: str, parameters: dict[str, Any]) -> list[ListedNotification]:
    return [ListedNotification(*values) for values in fetch(sql, parameters)]
