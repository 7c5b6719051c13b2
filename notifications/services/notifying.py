"""Tells people what concerns them, once, whatever happens to the process that does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction

from accounts.models import Account
from accounts.policies.relations import Relations
from accounts.queries.relations import load_relations_of
from notifications.events import NotificationMade
from notifications.models import Notification, NotificationType
from notifications.policies.verdicts import Candidate, is_dropped
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.plans import IDS, Plan
from statuses.queries.conversation_mutes import load_muted

_GROUPED = (
    NotificationType.FAVOURITE,
    NotificationType.REBLOG,
    NotificationType.FOLLOW,
    NotificationType.ADMIN_SIGN_UP,
)
# People are notified of these by what they have done, or what was done to them, themselves.
_ABOUT_ONESELF = (NotificationType.POLL, NotificationType.MODERATION_WARNING)
_GROUP_SECONDS = 12 * 3600
_INSERT: Final = """
INSERT INTO notifications_notification
       (account_id, from_account_id, type, status_id, report_id, strike_id, cause, group_key, filtered, created_at)
SELECT account_id, from_account_id, type, status_id, report_id, strike_id, cause, group_key, false, %s
  FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[])
       WITH ORDINALITY
       AS n (account_id, from_account_id, type, status_id, report_id, strike_id, cause, group_key, position)
 ORDER BY position
    ON CONFLICT (cause, account_id) DO NOTHING
RETURNING id, account_id, status_id
"""
_BATCH: Final = 500
_PEOPLE = Plan(lambda: Account.objects.select_related("user__role").filter(id__one_of=IDS))


@dataclass(frozen=True, slots=True)
class Note:
    """A notification to make: `cause` is the row that made it, `involved` as in `verdicts.Candidate`."""

    recipient_id: int
    sender_id: int
    type: NotificationType
    cause: str
    status_id: int | None = None
    involved: frozenset[int] = frozenset()
    report_id: int | None = None
    strike_id: int | None = None


def _group_key(note: Note) -> str | None:
    if note.type not in _GROUPED:
        return None
    bucket = int(clock.now().timestamp()) // _GROUP_SECONDS
    return f"{note.type}-{note.status_id}-{bucket}" if note.status_id else f"{note.type}-{bucket}"


def notify(notes: Sequence[Note]) -> list[tuple[int, int | None]]:
    """Make these notifications, leaving out those the recipient does not want and those that exist already. Returns who was
    notified, of which post.

    Works in the caller's transaction; publishes NotificationMade for each new row. Remote recipients are left out: their
    own server notifies them. The number of statements does not depend on that of the recipients.
    """
    if not notes:
        return []
    people = {
        account.id: account
        for account in _PEOPLE.run(
            ids=list({number for note in notes for number in (note.recipient_id, note.sender_id)})
        )
    }
    local = [note for note in notes if note.recipient_id in people and people[note.recipient_id].local]
    relations = load_relations_of(
        {note.recipient_id for note in local},
        {account for note in local for account in (note.sender_id, *note.involved)},
        followable={note.sender_id for note in local},
    )
    muted = load_muted({(note.recipient_id, note.status_id) for note in local if note.status_id is not None})
    wanted = [
        note
        for note in local
        if _is_wanted(
            note,
            people[note.recipient_id],
            people.get(note.sender_id),
            relations.get(note.recipient_id) or Relations(viewer_id=note.recipient_id),
            thread_muted=(note.recipient_id, note.status_id) in muted,
        )
    ]
    if not wanted:
        return []
    with transaction.atomic():
        made = _insert(wanted)
        publish(*(NotificationMade(notification_id=number, account_id=account) for number, account, _status in made))
    return [(account, status) for _number, account, status in made]


def _insert(notes: Sequence[Note]) -> list[tuple[int, int, int | None]]:
    """Ids, recipients and posts of the rows that were not there yet."""
    columns: list[Any] = [
        [note.recipient_id for note in notes],
        [note.sender_id for note in notes],
        [str(note.type) for note in notes],
        [note.status_id for note in notes],
        [note.report_id for note in notes],
        [note.strike_id for note in notes],
        [note.cause for note in notes],
        [_group_key(note) for note in notes],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [clock.now(), *columns])
        return list(cursor.fetchall())


def _is_wanted(
    note: Note, recipient: Account, sender: Account | None, relations: Relations, *, thread_muted: bool
) -> bool:
    if sender is None:
        return False
    user = getattr(sender, "user", None)
    candidate = Candidate(
        recipient_id=recipient.id,
        sender_id=sender.id,
        relations=relations,
        recipient_suspended=recipient.suspended,
        sender_suspended=sender.suspended,
        thread_muted=thread_muted,
        involved=note.involved,
        about_oneself=note.type in _ABOUT_ONESELF,
        sender_staff=note.type == NotificationType.MENTION and user is not None and user.is_staff,
    )
    return not is_dropped(candidate)


def take_back(causes: Iterable[str], **between: int) -> None:
    """Remove the notifications of acts that were undone; `between` narrows it to an `account_id` and a `from_account_id`."""
    Notification.objects.filter(cause__one_of=causes, **between).delete()


def remove_between(*, account_id: int, from_account_id: int) -> None:
    """Remove all notifications of `account_id` about `from_account_id` (block; mute with notifications)."""
    Notification.objects.filter(account_id=account_id, from_account_id=from_account_id).delete()


def remove_from_domain(*, account_id: int, domain: str) -> None:
    """Remove all notifications of `account_id` about people of a server they have blocked, in batches."""
    found = Notification.objects.filter(account_id=account_id, from_account__domain=domain).values("id")
    while Notification.objects.filter(id__in=found[:_BATCH]).delete()[0]:
        continue


def dismiss(*, account_id: int, notification_id: int) -> bool:
    """Remove one of one's own notifications; False when there is none."""
    removed, _rows = Notification.objects.filter(account_id=account_id, id=notification_id).delete()
    return removed > 0


def clear(*, account_id: int) -> None:
    """Remove all of one's notifications."""
    Notification.objects.filter(account_id=account_id).delete()
