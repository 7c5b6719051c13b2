"""Accepts and rejects follow requests, and removes followers (contract, behaviours section 14)."""

from collections.abc import Sequence
from typing import Final

from django.db import transaction

from accounts.events import AccountUnlocked
from accounts.models import Account, Follow, FollowRequest
from accounts.policies.audience import is_present
from accounts.services.following import accept_requests, end_following, lock_name, pair_name
from social.kernel.errors import require_found
from social.kernel.events import publish
from social.kernel.locks import lock

BATCH_SIZE: Final = 100
"""Number of requests accepted in one transaction. Each takes an advisory lock, and PostgreSQL has room for a few thousand
locks."""


def authorize_request(*, account: Account, requester: Account) -> None:
    """Accept a follow request. Raises NotFound if there is no request. Publishes AccountFollowed."""
    with transaction.atomic():
        lock(pair_name(account.id, requester.id))
        accept_requests(_find(account, requester))


def reject_request(*, account: Account, requester: Account) -> None:
    """Reject a follow request. Raises NotFound if there is no request. Publishes AccountUnfollowed."""
    with transaction.atomic():
        lock(pair_name(account.id, requester.id))
        _find(account, requester)
        end_following(requester.id, account.id, ended_by_id=account.id)


def remove_follower(*, account: Account, follower: Account) -> None:
    """Remove a follower, if there is one; a follow request stays. Publishes AccountUnfollowed."""
    with transaction.atomic():
        lock(pair_name(account.id, follower.id))
        if Follow.objects.filter(account=follower, target=account).exists():
            end_following(follower.id, account.id, ended_by_id=account.id)


def accept_waiting(account_id: int) -> None:
    """Accept at most BATCH_SIZE requests to an unlocked account, except requests from limited accounts.

    Publishes AccountUnlocked when more are left. The caller must hold the lock `lock_name`, in a transaction.
    """
    waiting = FollowRequest.objects.filter(target_id=account_id, account__limited_at=None).order_by("id")
    followers = list(waiting.values_list("account_id", flat=True)[:BATCH_SIZE])
    # As everywhere, pairs are locked before counters. The requests are then read again, because some may have been withdrawn.
    lock(*(pair_name(follower_id, account_id) for follower_id in followers))
    accept_requests(*waiting.filter(account_id__one_of=followers))
    if len(followers) == BATCH_SIZE:
        publish(AccountUnlocked(account_id=account_id))


def accept_more(events: Sequence[AccountUnlocked]) -> None:
    """Handle AccountUnlocked: accept the next batch of pending requests, unless the account was locked meanwhile."""
    for account_id in {event.account_id for event in events}:
        with transaction.atomic():
            lock(lock_name(account_id))
            if Account.objects.filter(is_present(), id=account_id, locked=False).exists():
                accept_waiting(account_id)


def _find(account: Account, requester: Account) -> FollowRequest:
    return require_found(FollowRequest.objects.filter(account=requester, target=account).first())
