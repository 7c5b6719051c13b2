"""Creates and deletes notifications; each is created once, even if the process is killed in between."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Model

from accounts.models import Account
from accounts.models.account import ActorType
from accounts.policies.relations import Relations
from accounts.queries.relations import load_followers_since, load_relations_of
from notifications.events import NotificationMade
from notifications.models import (
    Handling,
    Notification,
    NotificationPermission,
    NotificationPolicy,
    NotificationRequest,
    NotificationType,
)
from notifications.models.notification import MESSAGE_TYPES
from notifications.policies import outcomes
from notifications.policies.outcomes import NotificationOutcome as Outcome
from notifications.queries import listing, requests
from notifications.services.requests import MESSAGES_SQL, lock_recipients, make_requests, review_requests
from social.kernel import clock, events, ids
from social.kernel.plans import IDS, Plan
from statuses.queries import marks, threads

_GROUP_SECONDS = 12 * 3600
# Columns with the ids of the rows that a notification may be about; a Note has fields of the same names.
_SUBJECTS: Final = ("status_id", "report_id", "strike_id", "severed_id", "collection_id", "annual_report_id")
_COLUMNS: Final = ", ".join(("account_id", "from_account_id", *_SUBJECTS, "type", "cause", "group_key", "filtered"))
_INSERT: Final = f"""
INSERT INTO notifications_notification ({_COLUMNS}, created_at)
SELECT {_COLUMNS}, %s
  FROM unnest({"%s::bigint[], " * (2 + len(_SUBJECTS))}%s::text[], %s::text[], %s::text[], %s::bool[])
       WITH ORDINALITY AS n ({_COLUMNS}, position)
 ORDER BY position
    ON CONFLICT (cause, account_id) DO NOTHING
RETURNING id, account_id, from_account_id, type, status_id, filtered
"""  # noqa: S608 (constants)
_REMOVE: Final = f"""
WITH gone AS (
  DELETE FROM notifications_notification n WHERE {{condition}}
  RETURNING n.account_id, n.from_account_id, n.filtered AND n.type IN ({MESSAGES_SQL}) AS counted)
SELECT account_id, from_account_id, bool_or(counted) FROM gone GROUP BY account_id, from_account_id
"""  # noqa: S608 (constants)
_BATCH: Final = 500
_PEOPLE = Plan(lambda: Account.objects.select_related("user__role", "notification_policy").filter(id__one_of=IDS))


@dataclass(frozen=True, slots=True)
class Note:
    """A notification to be created. `cause` is as in `Notification`, `involved` as in `outcomes.Candidate`."""

    recipient_id: int
    sender_id: int
    type: NotificationType
    cause: str
    status_id: int | None = None
    involved: frozenset[int] = frozenset()
    report_id: int | None = None
    strike_id: int | None = None
    severed_id: int | None = None
    collection_id: int | None = None
    annual_report_id: int | None = None
    private: bool = False

    @property
    def pair(self) -> tuple[int, int]:
        return self.recipient_id, self.sender_id


def _group_key(note: Note) -> str | None:
    if not outcomes.RULES[note.type].grouped:
        return None
    bucket = int(clock.now().timestamp()) // _GROUP_SECONDS
    return f"{note.type}-{note.status_id}-{bucket}" if note.status_id else f"{note.type}-{bucket}"


def notify(notes: Iterable[Note]) -> list[tuple[int, int | None]]:
    """Create these notifications, except notifications that the recipient does not want or that exist already. Return the
    notified recipients, each with the id of the post concerned.

    Held notifications are stored without notifying the recipient; messages among them create a request. Works in the caller's
    transaction, and publishes NotificationMade for each new notification that is not held. Remote recipients are notified by
    their own server. The number of statements does not depend on the number of recipients.
    """
    decisions = [
        (note, candidate, outcomes.outcome_of(candidate))
        for note, candidate in _candidates(list(notes))
        if not outcomes.is_dropped(candidate)
    ]
    if not decisions:
        return []
    with transaction.atomic():
        # Permissions are read only for the few pairs that a policy stops, and only after the lock (see `lock_recipients`).
        stopped = {note.pair for note, _candidate, outcome in decisions if outcome is not Outcome.DELIVER}
        lock_recipients({recipient_id for recipient_id, _sender in stopped})
        permitted = requests.load_permitted(stopped)
        decided = [
            (note, outcomes.outcome_of(replace(candidate, permitted=True)) if note.pair in permitted else outcome)
            for note, candidate, outcome in decisions
        ]
        inserted = _insert(
            [(note, outcome is Outcome.HOLD) for note, outcome in decided if outcome is not Outcome.DROP]
        )
        delivered = [row for row in inserted if not row.held]
        events.publish(*(NotificationMade(notification_id=row.id, account_id=row.account_id) for row in delivered))
        make_requests({(row.account_id, row.sender_id) for row in inserted if row.held and row.type in MESSAGE_TYPES})
    return [(row.account_id, row.status_id) for row in delivered]


def _candidates(notes: Sequence[Note]) -> Iterator[tuple[Note, outcomes.Candidate]]:
    if not notes:
        return
    account_ids = {number for note in notes for number in note.pair}
    people = {account.id: account for account in _PEOPLE.run(ids=list(account_ids))}
    local = [note for note in notes if people.keys() >= set(note.pair) and people[note.recipient_id].local]
    relations = load_relations_of(
        {note.recipient_id for note in local},
        {account for note in local for account in (note.sender_id, *note.involved)},
        followable={note.sender_id for note in local},
    )
    muted = marks.load_muted({(note.recipient_id, note.status_id) for note in local if note.status_id is not None})

    def policy_of(note: Note) -> NotificationPolicy:
        return getattr(people[note.recipient_id], "notification_policy", outcomes.DEFAULT_POLICY)

    def asks(note: Note, setting: str) -> bool:
        return outcomes.RULES[note.type].filterable and getattr(policy_of(note), setting) != Handling.ACCEPT

    now = clock.now()
    followers = load_followers_since(
        {(note.sender_id, note.recipient_id) for note in local if asks(note, "for_not_followers")},
        now - outcomes.FOLLOWER_AGE,
    )
    solicited = threads.load_solicited(
        {
            (note.status_id, note.recipient_id)
            for note in local
            if note.private and note.status_id is not None and asks(note, "for_private_mentions")
        }
    )
    for note in local:
        recipient, sender = people[note.recipient_id], people[note.sender_id]
        user = getattr(sender, "user", None)
        yield (
            note,
            outcomes.Candidate(
                type=note.type,
                recipient_id=recipient.id,
                sender_id=sender.id,
                relations=relations.get(recipient.id) or Relations(viewer_id=recipient.id),
                policy=policy_of(note),
                involved=note.involved,
                suspended=recipient.suspended or sender.suspended,
                thread_muted=(recipient.id, note.status_id) in muted,
                sender_staff=user is not None and user.is_staff,
                sender_limited=sender.limited,
                sender_new=sender.created_at > now - outcomes.NEW_ACCOUNT_AGE,
                sender_bot=sender.actor_type in (ActorType.SERVICE, ActorType.APPLICATION),
                follows_recipient=(sender.id, recipient.id) in followers,
                unsolicited=note.private and (note.status_id, recipient.id) not in solicited,
            ),
        )


def notify_anew(notes: Iterable[Note]) -> None:
    """Create notifications as `notify` does, but replace notifications with the same causes: only the latest edit is listed."""
    notes = list(notes)
    recipients = [note.recipient_id for note in notes]
    Notification.objects.filter(
        cause__one_of=list({note.cause for note in notes}), account_id__one_of=recipients
    ).delete()
    notify(notes)


@dataclass(frozen=True, slots=True)
class _Inserted:
    id: int
    account_id: int
    sender_id: int
    type: str
    status_id: int | None
    held: bool


def _insert(notes: Sequence[tuple[Note, bool]]) -> list[_Inserted]:
    """Insert notifications, each with whether it is held; return the new rows. Held notifications never join a group."""
    columns: list[Any] = [
        [note.recipient_id for note, _held in notes],
        [note.sender_id for note, _held in notes],
        *([getattr(note, subject) for note, _held in notes] for subject in _SUBJECTS),
        [str(note.type) for note, _held in notes],
        [note.cause for note, _held in notes],
        [None if is_held else _group_key(note) for note, is_held in notes],
        [is_held for _note, is_held in notes],
    ]
    if not notes:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [clock.now(), *columns])
        return [_Inserted(*row) for row in cursor.fetchall()]


def take_back(causes: Iterable[str], **between: int) -> None:
    """Delete the notifications of actions that were undone; `between` are the ids of the two accounts, if given."""
    Notification.objects.filter(cause__one_of=causes, **between).delete()


def remove_between(*, account_id: int, from_account_id: int) -> None:
    """Delete all notifications of `account_id` about `from_account_id`, and the request of `from_account_id`."""
    between = {"account_id": account_id, "from_account_id": from_account_id}
    NotificationRequest.objects.filter(**between).delete()
    Notification.objects.filter(**between).delete()


def remove_from_domain(*, account_id: int, domain: str) -> None:
    """Delete all notifications of `account_id` about accounts of a server, with their requests and permissions, in batches."""
    models: tuple[type[Model], ...] = (NotificationPermission, NotificationRequest, Notification)
    for model in models:
        rows = model._default_manager.filter(account_id=account_id, from_account__domain=domain).values("id")
        while model._default_manager.filter(id__in=rows[:_BATCH]).delete()[0]:
            continue


def remove_of_posts(status_ids: Collection[int]) -> None:
    """Delete the notifications about deleted posts."""
    _remove("n.status_id = ANY(%(posts)s)", {"posts": list(status_ids)})


def dismiss(*, account_id: int, notification_id: int) -> bool:
    """Delete one of the account's notifications; return whether the notification existed."""
    return _remove("n.account_id = %(account)s AND n.id = %(id)s", {"account": account_id, "id": notification_id})


def dismiss_group(*, account_id: int, key: str) -> None:
    """Delete one of the account's groups of notifications, or the single notification with this key."""
    values = {"account": account_id, "key": key, "id": 0}
    condition = "n.account_id = %(account)s AND n.group_key = %(key)s"
    if key.startswith(listing.UNGROUPED):
        condition = "n.account_id = %(account)s AND n.group_key IS NULL AND n.id = %(id)s"
        values["id"] = ids.parse_id(key.removeprefix(listing.UNGROUPED)) or 0
    _remove(condition, values)


def _remove(condition: str, values: dict[str, Any]) -> bool:
    """Delete notifications, and recount the requests that counted them; return whether any notification was deleted."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_REMOVE.format(condition=condition), values)
            removed = cursor.fetchall()
        review_requests([(account, sender) for account, sender, was_counted in removed if was_counted])
    return bool(removed)


def clear(*, account_id: int) -> None:
    """Delete all of the account's notifications; requests are kept."""
    Notification.objects.filter(account_id=account_id).delete()
