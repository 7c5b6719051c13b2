"""Checks received replies against the policies of their local parent posts (docs/adr/0044)."""

from django.db import transaction

from accounts.models import Account
from federation.events import InteractionRefused
from federation.reasons import Reason, Rejected
from social.kernel.errors import Invalid
from social.kernel.events import publish
from social.kernel.reasons import leave_out
from statuses.models import Interaction, Status
from statuses.policies.interactions import is_pending, rule_of
from statuses.services.asking import NotPermitted, gated
from statuses.services.requests import record_accepted
from statuses.services.storing import Composed


def permitted(new: Composed, request_uri: str | None) -> Composed | None:
    """Return a received post in its stored form: a reply that needs the approval of the parent's author is marked as awaiting
    approval (`gated`). For a reply that the policy does not allow, return None and publish InteractionRefused.

    `request_uri` is the id of the activity that requests the reply. Raises Rejected if too many requests of the reply's author
    are waiting, or if the parent is a remote reply that awaits approval itself.
    """
    parent = new.parent
    try:
        return gated(new, request_uri=request_uri)
    except NotPermitted:
        if parent is None or Status.objects.filter(uri=new.uri).exists():
            return new  # A reply that is stored already is no longer refused.
        if not parent.local:
            raise Rejected(Reason.PARENT_WAITS) from None
        refuse(parent, new.author, Interaction.REPLY, str(new.uri), request_uri)
        return None
    except Invalid:
        raise Rejected(Reason.TOO_MANY_REQUESTS_WAIT) from None


def refuse(post: Status, actor: Account, kind: Interaction, uri: str, request_uri: str | None = None) -> None:
    """Send a Reject of the actor's interaction (with the id `uri`), which the policy of a local post does not allow."""
    leave_out(Reason.NOT_TO_BE_ANSWERED)
    with transaction.atomic():
        publish(
            InteractionRefused(
                account_id=post.account_id,
                actor_id=actor.id,
                kind=kind.value,
                status_id=post.id,
                uri=uri,
                request_uri=request_uri,
            )
        )


def authorize(reply: Status, request_uri: str | None = None) -> None:
    """Send an authorization of a remote reply if the policy of its local parent limits replies, but this reply needs no
    approval. The reply's server may be waiting for the authorization. `request_uri` is the id of the activity that requested
    the authorization. The caller holds a transaction.
    """
    parent = reply.in_reply_to
    if parent is None or not parent.local or reply.account_id == parent.account_id:
        return
    if request_uri is None and not rule_of(parent.interaction_policy, Interaction.REPLY):
        return
    if not is_pending(reply.interaction_policy):
        record_accepted(
            account_id=reply.account_id,
            post=parent,
            kind=Interaction.REPLY,
            uri=str(reply.uri),
            request_uri=request_uri,
            answer=reply,
        )
