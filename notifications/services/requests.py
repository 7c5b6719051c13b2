"""Writes policies, and creates, accepts and dismisses the requests from senders whose messages a policy holds (contract,
behaviours section 13).

Held notifications are delivered or deleted in batches after the response. Each batch is committed together with the event for
the next batch, so that nothing is lost or done twice if a process is killed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from django.db import connection, transaction

from accounts.models import Account
from notifications.events import NotificationsMerged, RequestAccepted, RequestDismissed
from notifications.models import NotificationPermission, NotificationPolicy, NotificationType
from notifications.models.notification import MESSAGE_TYPES
from notifications.models.policy import REQUEST_COUNT_LIMIT
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.events import publish
from social.kernel.statements import rows_of
from timelines.services.conversations import add_posts

BATCH_SIZE: Final = 500
"""Maximum number of held notifications that are delivered or deleted in one transaction."""

_LOCK_RECIPIENTS: Final = "SELECT id FROM accounts_account WHERE id = ANY(%(ids)s) ORDER BY id FOR SHARE"

MESSAGES_SQL: Final = ", ".join(f"'{type}'" for type in MESSAGE_TYPES)
"""The types that requests count, as literals and not as parameters, so that PostgreSQL uses the partial index."""

_PAIRS: Final = "unnest(%(accounts)s::bigint[], %(senders)s::bigint[]) asked (account_id, from_account_id)"
_MAKE: Final = f"""
INSERT INTO notifications_notificationrequest (account_id, from_account_id, notifications_count, created_at, updated_at)
SELECT account_id, from_account_id, 0, %(now)s, %(now)s FROM {_PAIRS} ORDER BY account_id, from_account_id
    ON CONFLICT (account_id, from_account_id) DO UPDATE SET updated_at = EXCLUDED.updated_at
"""  # noqa: S608 (constants)
_LOCK: Final = f"""
SELECT r.id FROM notifications_notificationrequest r JOIN {_PAIRS} USING (account_id, from_account_id)
 ORDER BY account_id, from_account_id FOR UPDATE OF r
"""  # noqa: S608 (constants)
_RECOUNT: Final = f"""
UPDATE notifications_notificationrequest r SET notifications_count = held.number, last_status_id = held.newest
  FROM {_PAIRS} CROSS JOIN LATERAL (
    SELECT count(*) AS number, (array_agg(status_id ORDER BY id DESC))[1] AS newest
      FROM (SELECT n.id, n.status_id FROM notifications_notification n
             WHERE n.account_id = asked.account_id AND n.from_account_id = asked.from_account_id
               AND n.filtered AND n.type IN ({MESSAGES_SQL})
             ORDER BY n.id DESC LIMIT {REQUEST_COUNT_LIMIT}) message) held
 WHERE r.account_id = asked.account_id AND r.from_account_id = asked.from_account_id
"""  # noqa: S608 (constants)
_REMOVE_EMPTY: Final = f"""
DELETE FROM notifications_notificationrequest r USING {_PAIRS}
 WHERE r.account_id = asked.account_id AND r.from_account_id = asked.from_account_id AND r.notifications_count = 0
"""  # noqa: S608 (constants)
_DELETE: Final = """
WITH taken AS MATERIALIZED (
  SELECT id FROM notifications_notificationrequest WHERE account_id = %(account)s AND id = ANY(%(ids)s)
   ORDER BY account_id, from_account_id FOR UPDATE)
DELETE FROM notifications_notificationrequest r USING taken WHERE r.id = taken.id
RETURNING r.from_account_id, (
  SELECT max(n.id) FROM notifications_notification n
   WHERE n.account_id = r.account_id AND n.from_account_id = r.from_account_id AND n.filtered)
"""
# The oldest notifications come first, because posts are added to conversations in this order.
_DELIVER: Final = f"""
WITH chosen AS MATERIALIZED (
  SELECT held.id
    FROM {_PAIRS}
    JOIN notifications_notificationpermission p USING (account_id, from_account_id)
   CROSS JOIN LATERAL (
    SELECT n.id FROM notifications_notification n
     WHERE n.account_id = asked.account_id AND n.from_account_id = asked.from_account_id AND n.filtered
     ORDER BY n.id LIMIT %(limit)s) held
   LIMIT %(limit)s)
UPDATE notifications_notification n SET filtered = false FROM chosen WHERE n.id = chosen.id
RETURNING n.account_id, n.status_id, n.type
"""  # noqa: S608 (constants)
_END_MERGING: Final = f"""
UPDATE notifications_notificationpermission p SET merging = false FROM {_PAIRS}
 WHERE p.account_id = asked.account_id AND p.from_account_id = asked.from_account_id
"""  # noqa: S608 (constants)
_REMOVE_HELD: Final = """
DELETE FROM notifications_notification WHERE id IN (
  SELECT id FROM notifications_notification
   WHERE account_id = %(account)s AND from_account_id = %(sender)s AND filtered AND id <= %(last)s
   ORDER BY id DESC LIMIT %(limit)s)
"""

Pairs = Collection[tuple[int, int]]
"""Pairs of recipient and sender."""


def change_policy(*, account_id: int, settings: Mapping[str, str]) -> None:
    """Store settings of the policy (`POLICY_COLUMNS`, with values of `Handling`). Other settings and existing notifications
    stay as they are.
    """
    if settings:
        NotificationPolicy.objects.bulk_create(
            [NotificationPolicy(account_id=account_id, **settings)],
            update_conflicts=True,
            unique_fields=["account"],
            update_fields=list(settings),
        )


def lock_recipients(account_ids: Collection[int]) -> None:
    """Lock these accounts against accepting or dismissing requests until the transaction ends.

    Permissions that are read under this lock stay valid. Without the lock, a notification could stay held forever because its
    sender was accepted at the same moment.
    """
    if account_ids:
        _run(_LOCK_RECIPIENTS, {"ids": list(account_ids)})


def make_requests(pairs: Pairs) -> None:
    """Create a request for each pair whose messages are held, or recount the existing request."""
    if pairs:
        _run(_MAKE, _arrays(pairs) | {"now": clock.now()})
        # This is a separate statement, so that it counts the notifications that other transactions added while the first
        # statement waited for their locks.
        _run(_RECOUNT, _arrays(pairs))


def review_requests(pairs: Pairs) -> None:
    """Recount the held messages of these pairs after some messages were deleted; delete requests without messages."""
    if pairs:
        for statement in (_LOCK, _RECOUNT, _REMOVE_EMPTY):
            _run(statement, _arrays(pairs))


def accept_requests(*, account_id: int, request_ids: Collection[int]) -> int:
    """Accept the senders of these requests: their held and future notifications are delivered. Return the number of requests.

    Publishes RequestAccepted for each sender; the handler delivers the notifications and then publishes NotificationsMerged.
    """
    with transaction.atomic():
        requests = _delete_requests(account_id, request_ids)
        NotificationPermission.objects.bulk_create(
            [
                NotificationPermission(account_id=account_id, from_account_id=sender_id, merging=True)
                for sender_id, _last in requests
            ],
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["account", "from_account"],
            update_fields=["merging"],
        )
        publish(*(RequestAccepted(account_id=account_id, from_account_id=sender_id) for sender_id, _last in requests))
    return len(requests)


def dismiss_requests(*, account_id: int, request_ids: Collection[int]) -> int:
    """Delete these requests; return their number.

    For each sender with held notifications, publishes RequestDismissed, whose handler deletes these notifications.
    """
    with transaction.atomic():
        requests = _delete_requests(account_id, request_ids)
        publish(
            *(
                RequestDismissed(account_id=account_id, from_account_id=sender_id, last_id=last)
                for sender_id, last in requests
                if last is not None
            )
        )
    return len(requests)


def _delete_requests(account_id: int, request_ids: Collection[int]) -> list[tuple[int, int | None]]:
    """Delete requests; return their senders, each with the id of the newest held notification."""
    # FOR NO KEY UPDATE waits for holders of `lock_recipients` (FOR SHARE) but not for foreign-key checks, so that two
    # users who accept each other's requests do not block one another.
    list(Account.objects.select_for_update(no_key=True).filter(id=account_id).values_list("id"))
    deleted = rows_of(_DELETE, {"account": account_id, "ids": list(request_ids)})
    return [(sender_id, last_id) for sender_id, last_id in deleted]


def deliver_held(events: Sequence[RequestAccepted]) -> None:
    """Deliver at most BATCH_SIZE notifications of the accepted senders, and add private mentions to conversations. If more may
    remain, the events are published again; otherwise NotificationsMerged is published.

    Nothing is streamed or pushed, because the notifications are old, and clients reload the list.
    """
    pairs = {(event.account_id, event.from_account_id) for event in events}
    delivered = rows_of(_DELIVER, _arrays(pairs) | {"limit": BATCH_SIZE})
    add_posts(
        [(account_id, status_id) for account_id, status_id, type in delivered if type == NotificationType.MENTION]
    )
    if len(delivered) == BATCH_SIZE:
        publish(*dict.fromkeys(events))
        return
    _run(_END_MERGING, _arrays(pairs))
    accounts = {account_id for account_id, _sender in pairs}
    merging = NotificationPermission.objects.filter(account_id__one_of=accounts, merging=True)
    accounts.difference_update(merging.values_list("account_id", flat=True))
    publish(*(NotificationsMerged(account_id=account_id) for account_id in sorted(accounts)))


def remove_held(events: Sequence[RequestDismissed]) -> None:
    """Delete at most BATCH_SIZE held notifications of each dismissed request; if more may remain, the event is published again.
    Newer notifications may have created a new request, which is recounted at the end.
    """
    removed_pairs = []
    for event in dict.fromkeys(events):
        values = {"account": event.account_id, "sender": event.from_account_id, "last": event.last_id}
        if _run(_REMOVE_HELD, values | {"limit": BATCH_SIZE}) == BATCH_SIZE:
            publish(event)
        else:
            removed_pairs.append((event.account_id, event.from_account_id))
    review_requests(removed_pairs)


def _arrays(pairs: Iterable[tuple[int, int]]) -> dict[str, Any]:
    ordered = sorted(pairs)
    return {"accounts": [account for account, _ in ordered], "senders": [sender for _, sender in ordered]}


def _run(sql: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)
