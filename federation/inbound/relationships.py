"""Handles Follow, Accept, Reject, Block and Move (contract, federation section 7; security rows 16 and 17)."""

from django.db import transaction

from accounts.collections.services.remote import store_consent_answer
from accounts.models import Account, Follow, FollowRequest
from accounts.queries.relations import find_block
from accounts.services import blocking, following, instance_actor
from accounts.transfers.services.moving import receive_move
from federation.documents.reading import kinds_of, same_origin, uri_of, web_uri
from federation.events import FollowAnswerDue
from federation.inbound import collections, quotes, requests
from federation.inbound.incoming import Incoming, local_account, remember_undone
from federation.models import Relay, RelayState
from federation.reasons import Reason, Rejected
from federation.remote import actors, references
from social.kernel import events, links
from social.kernel.errors import Conflict, Forbidden, NotFound
from social.kernel.locks import lock
from statuses.services.quotes import settle_quote
from statuses.services.requests import settle_request


def find_follower(incoming: Incoming) -> Account:
    """Return the local account whose Follow is answered. The account is found by the id of the Follow or, if that id is not
    from this server, through the embedded Follow.

    Raises Rejected when no local account has sent the Follow, when the Follow was not for the actor (security row 16), or when
    the Follow was undone.
    """
    uri = incoming.object_uri
    for model in (FollowRequest, Follow):
        row = model._default_manager.select_related("account").filter(uri=uri, target=incoming.actor).first()
        if row is not None and row.account.local:
            return row.account
    embedded = incoming.object
    is_follow = "Follow" in kinds_of(embedded) and uri_of(embedded.get("object")) == incoming.actor.uri
    if not is_follow or (uri is not None and links.is_own(uri)):
        raise Rejected(Reason.ANSWER_TO_NO_FOLLOW)
    return local_account(uri_of(embedded.get("actor")))


def is_answered(row: Follow | FollowRequest, incoming: Incoming) -> bool:
    """Tell whether the activity answers this row, not an earlier Follow. The caller has locked the two accounts as a pair."""
    uri = incoming.object_uri
    return uri is None or not links.is_own(uri) or row.uri == uri


def handle_follow(incoming: Incoming) -> None:
    """Store the actor's Follow of a local account as a follow or request, or reject it. A repeated Follow is accepted again.
    Only the newest Follow counts; a late Undo of an earlier Follow ends nothing.
    """
    uri, target = incoming.needed_or_made_uri(), local_account(incoming.object_uri)
    with references.claimed_id(uri, incoming.actor.uri):
        try:
            following.release_follow_id(uri=uri, account=incoming.actor, target=target)
        except Conflict:
            raise Rejected(Reason.TAKEN_ID_OF_FOLLOW) from None
        accepted: bool | None = None
        if target.uri == instance_actor.instance_actor_uri():
            accepted = False
        else:
            try:
                earlier = following.follow_account(
                    account=incoming.actor, target=target, change=following.FollowChange(), uri=uri
                )
            except (Forbidden, NotFound):
                accepted = False
            else:
                accepted = True if earlier is not None and earlier.accepted else None
                if earlier is not None and earlier.uri != uri:
                    remember_undone(earlier.uri, incoming.actor)
        if accepted is not None:
            events.publish(
                FollowAnswerDue(account_id=target.id, follower_id=incoming.actor.id, uri=uri, accepted=accepted),
            )


def handle_accept(incoming: Incoming) -> None:
    """Handle the Accept of a local account's request: a Follow, or a request for an interaction, a quote, a collection item or
    a relay.
    """
    if _settle_request(incoming, accepted=True):
        return
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(following.pair_name(follower.id, incoming.actor.id))
        request = FollowRequest.objects.filter(account=follower, target=incoming.actor).first()
        if request is not None and is_answered(request, incoming):
            following.accept_requests(request)


def handle_reject(incoming: Incoming) -> None:
    """Handle the Reject of a local account's request: a Follow, or a request for an interaction, a quote, a collection item or
    a relay.
    """
    if _settle_request(incoming, accepted=False):
        return
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(following.pair_name(follower.id, incoming.actor.id))
        for model in (Follow, FollowRequest):
            row = model._default_manager.filter(account=follower, target=incoming.actor).first()
            if row is not None and is_answered(row, incoming):
                following.end_following(follower.id, incoming.actor.id, ended_by_id=incoming.actor.id)


def _settle_request(incoming: Incoming, *, accepted: bool) -> bool:
    """Store the answer to a local account's request, other than a Follow; return False if the activity is not such an answer.
    An Accept must name an authorization, unless a relay sends it.
    """
    if _settle_relay(incoming, accepted=accepted):
        return True
    if (quote := quotes.find_answered(incoming)) is not None:
        settle_quote(quote_id=quote.id, accepted=accepted, approval_uri=incoming.authorization_if(accepted))
    elif (request := requests.find_answered(incoming)) is not None:
        settle_request(request_id=request.id, accepted=accepted, approval_uri=incoming.authorization_if(accepted))
    elif (item := collections.find_answered(incoming)) is not None:
        approval_uri = incoming.authorization_if(accepted)
        store_consent_answer(
            item_id=item.id, accepted=accepted, account_id=incoming.actor.id, approval_uri=approval_uri
        )
    else:
        return False
    return True


def _settle_relay(incoming: Incoming, *, accepted: bool) -> bool:
    """Store a relay's answer to this server's Follow; return False for any other activity, or if the actor is not on the
    relay's server.
    """
    relay = Relay.objects.filter(follow_uri=incoming.object_uri or "").first()
    if relay is None or not same_origin(relay.inbox_url, incoming.actor.uri):
        return False
    state = RelayState.ACCEPTED if accepted else RelayState.REJECTED
    Relay.objects.filter(id=relay.id).update(state=state)
    return True


def handle_block(incoming: Incoming) -> None:
    """Store the actor's Block of a local account, and end the follows in both directions."""
    uri, target = incoming.needed_or_made_uri(), local_account(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        existing = find_block(uri)
        if existing is not None and existing.account_id != incoming.actor.id:
            raise Rejected(Reason.TAKEN_ID_OF_BLOCK)
        blocking.block_account(account=incoming.actor, target=target, uri=uri)


def handle_move(incoming: Incoming) -> None:
    """Move the local followers of the actor to another account, if that account lists the actor in its `alsoKnownAs`."""
    if incoming.object_uri != incoming.actor.uri:
        raise Rejected(Reason.MOVED_BY_OTHER)
    target_uri = web_uri(incoming.document.get("target"))
    if target_uri is None:
        raise Rejected(Reason.MOVE_TO_NOWHERE)
    receive_move(account=incoming.actor, target=actors.find_successor(incoming.actor.uri, target_uri))
