"""Reads the notifications that are to be mailed now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts.models import User
from accounts.policies.audience import PRESENT, is_present
from accounts.policies.mails import DAILY, MAILED_TYPES, NO_MAILS, NOTIFICATIONS, OPTIONAL_SWITCHES, type_switch
from notifications.models import MailRecord
from social.kernel import clock
from social.kernel.ids import first_at
from social.kernel.statements import rows_of
from timelines.models import Timeline
from timelines.queries.lists import load_markers

TYPES_SQL: Final = ", ".join(f"'{kind}'" for kind in MAILED_TYPES)
_INITIAL_TYPES: Final = ", ".join(f"'{kind}'" for kind in MAILED_TYPES if type_switch(kind) not in OPTIONAL_SWITCHES)

CHOSEN_CONDITION: Final = f"""
       u.preferences ->> '{NOTIFICATIONS}' IS DISTINCT FROM '{NO_MAILS}' AND u.disabled_at IS NULL AND n.type IN ({TYPES_SQL})
   AND COALESCE((u.preferences ->> (n.type || '{type_switch("")}'))::boolean, n.type IN ({_INITIAL_TYPES}))
"""
"""Condition: the user `u` wants mails about the type of the notification `n`."""

DAILY_CONDITION: Final = f"(u.preferences ->> '{NOTIFICATIONS}' IS NOT DISTINCT FROM '{DAILY}')"
"""Condition: the user `u` wants one mail a day."""

UNREAD_CONDITION: Final = f"""
       NOT n.filtered AND {PRESENT.sql("n.from_account_id", has_viewer=False)}
   AND NOT EXISTS (SELECT FROM timelines_marker m
                    WHERE m.account_id = n.account_id AND m.timeline = 'notifications' AND m.last_read_id >= n.id)
"""
"""Condition: the notification `n` is listed, and its recipient has not read it."""

_COLUMNS: Final = "n.id, n.type, n.account_id, n.from_account_id, n.status_id, n.created_at"
# For items that are not to be mailed any more, all columns except the first are NULL.
_ITEMS: Final = f"""
SELECT i.notification_id, w.* FROM notifications_mailitem i LEFT JOIN LATERAL (
  SELECT {_COLUMNS} FROM notifications_notification n JOIN accounts_user u ON u.account_id = n.account_id
   WHERE n.id = i.notification_id AND {CHOSEN_CONDITION} AND {UNREAD_CONDITION}) w ON TRUE
 WHERE i.account_id = %(account)s ORDER BY i.notification_id
"""  # noqa: S608 (constants)
_UNREAD: Final = f"""
SELECT {_COLUMNS} FROM notifications_notification n
 WHERE n.account_id = %(account)s AND n.id >= %(first)s AND n.created_at > %(since)s AND n.type IN ({TYPES_SQL})
   AND {UNREAD_CONDITION}
 ORDER BY n.id DESC LIMIT %(limit)s
"""  # noqa: S608 (constants)


@dataclass(frozen=True, slots=True)
class MailedNotification:
    """The columns of a notification that mails show."""

    id: int
    type: str
    account_id: int
    from_account_id: int
    status_id: int | None
    created_at: datetime

    @property
    def subject(self) -> tuple[int, int, int | None]:
        """Return the subject for `load_contents`."""
        return self.account_id, self.from_account_id, self.status_id


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A recipient of mails, who was last active at `seen_at`. `items` are the notifications to be mailed, oldest first. `gone`
    are the ids of notifications that are not to be mailed any more.
    """

    user: User
    record: MailRecord
    seen_at: datetime
    items: list[MailedNotification]
    gone: list[int]


def find_mailbox(account_id: int) -> Mailbox | None:
    """Return the mailbox of an account; None if no mail may be sent: the address is not confirmed or was permanently rejected,
    the user may not use the account, or the account has moved or is a memorial. Three queries.
    """
    users = User.objects.select_related("account__mail_record").filter(
        is_present("account"),
        account_id=account_id,
        account__moved_to=None,
        account__memorial=False,
        account__deleted_at=None,
        disabled_at=None,
        approved=True,
        activated_at__isnull=False,
    )
    user = users.first()
    if user is None or user.preferences.get("refused_address") == user.email:
        return None
    markers = load_markers(account_id, [Timeline.HOME, Timeline.NOTIFICATIONS])
    rows = rows_of(_ITEMS, {"account": account_id})
    return Mailbox(
        user=user,
        record=getattr(user.account, "mail_record", None) or MailRecord(account_id=account_id, began_at=clock.now()),
        seen_at=max([user.active_at or user.created_at, *(marker.updated_at for marker in markers)]),
        items=[MailedNotification(*columns) for _id, *columns in rows if columns[0] is not None],
        gone=[number for number, *columns in rows if columns[0] is None],
    )


def list_unread(account_id: int, since: datetime, limit: int) -> list[MailedNotification]:
    """Return the unread notifications of an account since a time, of all types that can be mailed, newest first."""
    rows = rows_of(_UNREAD, {"account": account_id, "since": since, "first": first_at(since), "limit": limit})
    return [MailedNotification(*columns) for columns in rows]
