"""Reads policies, permissions and requests of notifications."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from accounts.policies.audience import PRESENT, is_present
from accounts.queries.accounts import CountedAccounts, load_counted_accounts
from notifications.models import NotificationPermission, NotificationPolicy, NotificationRequest
from notifications.models.policy import REQUEST_COUNT_LIMIT
from social.kernel.errors import require_found
from social.kernel.statements import rows_of
from statuses.queries.page import PostPage, hydrate

_PERMITTED: Final = """
SELECT p.account_id, p.from_account_id
  FROM unnest(%(accounts)s::bigint[], %(senders)s::bigint[]) asked (account_id, from_account_id)
  JOIN notifications_notificationpermission p USING (account_id, from_account_id)
"""
_SUMMARY: Final = f"""
SELECT count(*), COALESCE(sum(notifications_count), 0)::bigint
  FROM (SELECT r.notifications_count FROM notifications_notificationrequest r
         WHERE r.account_id = %(account)s AND {PRESENT.sql("r.from_account_id", has_viewer=False)} LIMIT %(limit)s) counted
"""  # noqa: S608 (constants)


def load_permitted(pairs: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs (recipient, sender) in which the recipient has accepted the sender. One query, or none without pairs."""
    if not pairs:
        return set()
    accounts, senders = map(list, zip(*pairs, strict=True))
    return {
        (account_id, sender_id)
        for account_id, sender_id in rows_of(_PERMITTED, {"accounts": accounts, "senders": senders})
    }


def find_policy(account_id: int) -> NotificationPolicy:
    """Return the account's policy, or an unsaved default policy if the account has none."""
    return NotificationPolicy.objects.filter(account_id=account_id).first() or NotificationPolicy()


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """Number of pending requests, up to REQUEST_COUNT_LIMIT, and number of the messages in these requests."""

    requests: int
    notifications: int


def count_requests(account_id: int) -> RequestSummary:
    """Return the summary of an account's requests; one query."""
    ((requests, notifications),) = rows_of(_SUMMARY, {"account": account_id, "limit": REQUEST_COUNT_LIMIT})
    return RequestSummary(requests, notifications)


def list_requests(account_id: int) -> QuerySet[NotificationRequest]:
    """Return the account's pending requests, except requests of suspended senders."""
    return NotificationRequest.objects.filter(is_present("from_account"), account_id=account_id)


def find_request(account_id: int, request_id: int) -> NotificationRequest:
    """Return the account's request with this id. Raises NotFound."""
    return require_found(list_requests(account_id).filter(id=request_id).first())


def is_merged(account_id: int) -> bool:
    """Tell whether the held notifications of all accepted senders have been delivered."""
    return not NotificationPermission.objects.filter(account_id=account_id, merging=True).exists()


@dataclass(frozen=True)
class RequestPage:
    """Requests with their senders and the last post of each sender, if the recipient may read it."""

    requests: Sequence[NotificationRequest]
    accounts: CountedAccounts
    statuses: PostPage


def load_request_page(requests: Sequence[NotificationRequest], viewer_id: int) -> RequestPage:
    """Return the data of the entities of these requests, in a fixed number of queries."""
    accounts = load_counted_accounts({request.from_account_id for request in requests}, viewer_id)
    last = dict.fromkeys(request.last_status_id for request in requests if request.last_status_id is not None)
    return RequestPage(requests, accounts, hydrate(last, viewer_id))
