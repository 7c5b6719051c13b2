"""Reads requests to favourite, reply to and boost posts."""

from collections.abc import Sequence
from typing import Any

from django.db.models import OuterRef, Q, QuerySet

from accounts.policies.audience import is_present
from accounts.queries.users import CountOf
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from statuses.models import Interaction, InteractionRequest, RequestState
from statuses.policies.posts import Post


def list_pending() -> QuerySet[InteractionRequest]:
    """Select the requests that await a decision, except requests about deleted posts and requests by suspended accounts."""
    there = Q(answer=None) | Q(answer__deleted_at=None)
    return InteractionRequest.objects.filter(
        there, is_present("account"), state=RequestState.PENDING, status__deleted_at=None
    )


def list_requests(
    target_id: int, *, kinds: Sequence[Interaction] = tuple(Interaction), status_id: int | None = None
) -> QuerySet[InteractionRequest]:
    """Select the requests of these kinds, about this post or any post, that await the decision of this account."""
    found = list_pending().filter(target_id=target_id, kind__one_of=[kind.value for kind in kinds])
    return found if status_id is None else found.filter(status_id=status_id)


def find_request(request_id: Any, target_id: int) -> InteractionRequest:
    """Return a pending or decided request about a post of this account. Raises NotFound."""
    own = InteractionRequest.objects.filter(target_id=target_id, status__deleted_at=None)
    return require_found(own.filter(id=parse_id(request_id) or 0).first())


def waiting_requests() -> CountOf:
    """Return an expression for queries of users: the number of requests that await the user's decision."""
    return CountOf(list_pending().filter(target_id=OuterRef("account_id")).values("id")[:100])


def is_requested(account_id: int, post: Post, kind: Interaction) -> bool:
    """Tell whether the account's request to favourite or boost the post is pending. One query, or none if the post has no
    policy.
    """
    pending = list_pending().filter(account_id=account_id, status_id=post.id, kind=kind)
    return bool(post.interaction_policy) and pending.exists()
