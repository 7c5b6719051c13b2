"""Answers requests to follow, and ends what others follow (contract, behaviours section 14)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import accept_request, end_following, pair_name
from social.kernel.errors import NotFound
from social.kernel.locks import lock


def authorize_request(*, account: Account, requester: Account) -> None:
    """Let `requester` follow `account`, with the options they asked for. Raises NotFound when they have not asked.

    Announces AccountFollowed.
    """
    with transaction.atomic():
        lock(pair_name(account.id, requester.id))
        accept_request(_find(account, requester))


def reject_request(*, account: Account, requester: Account) -> None:
    """Refuse a request. Raises NotFound when there is none. Announces AccountUnfollowed."""
    with transaction.atomic():
        lock(pair_name(account.id, requester.id))
        _find(account, requester)
        end_following(requester.id, account.id, ended_by_id=account.id)


def remove_follower(*, account: Account, follower: Account) -> None:
    """End the follow of `account` by `follower`; a request stays, and nothing happens when there is no follow.

    Announces AccountUnfollowed.
    """
    with transaction.atomic():
        lock(pair_name(account.id, follower.id))
        if Follow.objects.filter(account=follower, target=account).exists():
            end_following(follower.id, account.id, ended_by_id=account.id)


def _find(account: Account, requester: Account) -> FollowRequest:
    request = FollowRequest.objects.filter(account=requester, target=account).first()
    if request is None:
        raise NotFound
    return request
