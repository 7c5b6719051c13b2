"""Stores requests for interactions that the policy of a post allows only with its author's approval (docs/adr/0044)."""

from dataclasses import replace
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import Account
from accounts.policies.relations import Relations
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.events import InteractionRequested
from statuses.models import Interaction, InteractionRequest, RequestState, Status
from statuses.policies.interactions import PENDING, is_pending, permission, rule_of
from statuses.policies.posts import Post
from statuses.policies.quotes import Permission
from statuses.policies.visibility import WAITING_VISIBILITY
from statuses.queries.requests import list_pending
from statuses.queries.statuses import find_post_and_relations
from statuses.services.changing import lock_status
from statuses.services.storing import Composed, NewRequest

REQUESTS_LIMIT: Final = 50
"""Maximum number of pending requests of one account to the same author; further requests are refused."""
_REFUSALS: Final = {
    Interaction.FAVOURITE: gettext_noop("The author of this post does not allow you to favourite it."),
    Interaction.REPLY: gettext_noop("The author of this post does not allow you to reply to it."),
    Interaction.REBLOG: gettext_noop("The author of this post does not allow you to boost it."),
}


class NotPermitted(Forbidden):
    """Error for an interaction that the post's policy forbids, and for any interaction with a reply that awaits approval."""

    def __init__(self, kind: Interaction, post: Post | Status) -> None:
        waits = is_pending(post.interaction_policy)
        super().__init__(_("This reply is still waiting for approval.") if waits else _(_REFUSALS[kind]))


def ask(
    *,
    account_id: int,
    post: Post | Status,
    kind: Interaction,
    relations: Relations,
    visibility: str = "",
    uri: str | None = None,
    request_uri: str | None = None,
) -> bool:
    """Return True if the account may favourite or boost the post freely; otherwise store a request, once, and return False.

    `relations` are the account's relations to the author, `visibility` is the visibility of the boost, and `uri` and
    `request_uri` are the ids of a remote interaction and its request. Raises NotPermitted if the policy forbids the interaction
    or the author has rejected the account's earlier request; Invalid for more than REQUESTS_LIMIT requests; NotFound for a post
    deleted in the meantime. Publishes InteractionRequested.
    """
    allowed = permission(post, kind, account_id, relations)
    if allowed is Permission.AUTOMATIC and not rule_of(post.interaction_policy, kind):
        return True
    asked = InteractionRequest.objects.filter(status_id=post.id, account_id=account_id, kind=kind)
    if allowed is Permission.DENIED or asked.filter(state=RequestState.REJECTED).exists():
        raise NotPermitted(kind, post)
    if allowed is Permission.AUTOMATIC:
        return True
    with transaction.atomic():
        if not lock_status(post.id):
            raise NotFound
        lock(f"interaction:{account_id}:{post.account_id}")
        earlier = asked.first()
        if earlier is None:
            _check_room(account_id, post.account_id)
            own_uri = None if post.local else _new_request_uri(Account.objects.only("uri").get(id=account_id))
            request = InteractionRequest.objects.create(
                status_id=post.id,
                account_id=account_id,
                target_id=post.account_id,
                kind=kind,
                visibility=visibility,
                uri=uri,
                request_uri=own_uri or request_uri,
            )
            publish(InteractionRequested(request_id=request.id, account_id=account_id))
        elif earlier.state == RequestState.REJECTED:
            raise NotPermitted(kind, post)
    return earlier is not None and earlier.state == RequestState.ACCEPTED


def gated(new: Composed, *, request_uri: str | None = None) -> Composed:
    """Return a new reply in the form in which it is stored: unchanged if its author may reply without approval, otherwise as a
    reply that awaits approval, which only the two authors may read.

    Replies of remote accounts to remote posts are unchanged, unless the parent itself awaits approval. A remote reply that
    awaits approval has no quote. `request_uri` is the id of another server's request. Raises the errors of `ask`, and Invalid
    for a local reply that would need approval and has a quote.
    """
    parent = new.parent
    if parent is None or not parent.interaction_policy:
        return new
    if not (new.author.local or parent.local or is_pending(parent.interaction_policy)):
        return new
    post, relations = find_post_and_relations(parent.id, new.author.id)
    allowed = permission(post, Interaction.REPLY, new.author.id, relations)
    if allowed is Permission.AUTOMATIC:
        return new
    # Nobody on another server can be asked about a post that is not sent to other servers.
    if allowed is Permission.DENIED or (new.local_only and not post.local):
        raise NotPermitted(Interaction.REPLY, post)
    if new.quote is not None and new.author.local:
        raise Invalid.sentence(
            _(
                "The author of the post has to approve your reply before it is published. Such a reply cannot contain a quote."
            )
        )
    _check_room(new.author.id, post.account_id)
    target = Account.objects.get(id=post.account_id)
    named = {account.id for account in new.mentions}.difference(new.silent)
    return replace(
        new,
        visibility=WAITING_VISIBILITY,
        mentions=[target],
        silent=set() if target.id in named else {target.id},
        unknown_mentions=(),
        quote=None,
        interaction_policy=(new.interaction_policy or 0) | PENDING,
        asks=NewRequest(
            target_id=target.id,
            visibility=new.visibility,
            mentioned_ids=[account.id for account in new.mentions],
            silent_ids=sorted(new.silent),
            uri=new.uri,
            request_uri=request_uri if post.local else _new_request_uri(new.author),
        ),
    )


def _new_request_uri(account: Account) -> str:
    return f"{account.uri}/interaction_requests/{uuid4()}"


def _check_room(account_id: int, target_id: int) -> None:
    pending = list_pending().filter(account_id=account_id, target_id=target_id)
    if pending.count() >= REQUESTS_LIMIT:
        raise Invalid.sentence(_("Too many of your requests to this author are still waiting for a decision."))
