"""Handles Follow, Accept, Reject, Block and Move (contract, federation section 7; security rows 16 and 17)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.queries.relations import find_block
from accounts.services import following
from accounts.services.blocking import block_account
from accounts.services.instance_actor import instance_actor_uri
from accounts.transfers.services.moving import receive_move
from federation.documents.reading import Rejected, kinds_of, uri_of, web_uri
from federation.events import FollowAnswerDue
from federation.inbound import collections, quotes, relays, requests
from federation.inbound.incoming import Incoming, local_account, remember_undone
from federation.reasons import Reason
from federation.remote.actors import find_successor
from federation.remote.references import check_id
from social.kernel.errors import Conflict, Forbidden, NotFound
from social.kernel.events import publish
from social.kernel.links import is_own
from social.kernel.locks import lock
from statuses.services.requests import settle_request


def find_follower(incoming: Incoming) -> Account:
    """Return the local account whose Follow is answered: found by the id of the Follow or, if that id is not from this server,
    by the embedded Follow.

    Raises Rejected when no local account has sent the Follow, when the Follow was of another account (security row 16), and
    when it was undone in the meantime: then a newer Follow is still to be answered.
    """
    uri = incoming.object_uri
    for model in (FollowRequest, Follow):
        row = model._default_manager.select_related("account").filter(uri=uri, target=incoming.actor).first()
        if row is not None and row.account.local:
            return row.account
    embedded = incoming.object
    is_follow = "Follow" in kinds_of(embedded) and uri_of(embedded.get("object")) == incoming.actor.uri
    if not is_follow or (uri is not None and is_own(uri)):
        raise Rejected(Reason.ANSWER_TO_NO_FOLLOW)
    return local_account(uri_of(embedded.get("actor")))


def is_answered(row: Follow | FollowRequest, incoming: Incoming) -> bool:
    """Tell whether the activity answers this follow or follow request, and not an earlier Follow of the same pair. The caller
    holds the lock of the pair.
    """
    uri = incoming.object_uri
    return uri is None or not is_own(uri) or row.uri == uri


def handle_follow(incoming: Incoming) -> None:
    """Store a Follow of a local account as a follow or as a request, or answer it with a Reject. A repeated Follow is accepted
    again.

    The newest Follow counts: a late Undo of an earlier Follow ends nothing.
    """
    uri, target = incoming.needed_or_made_uri(), local_account(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        check_id(uri, incoming.actor.uri)
        try:
            following.release_follow_id(uri=uri, account=incoming.actor, target=target)
        except Conflict:
            raise Rejected(Reason.TAKEN_ID_OF_FOLLOW) from None
        accepted: bool | None = None
        if target.uri == instance_actor_uri():
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
            publish(
                FollowAnswerDue(account_id=target.id, follower_id=incoming.actor.id, uri=uri, accepted=accepted),
            )


def handle_accept(incoming: Incoming) -> None:
    """Handle the acceptance of a local account's follow request or interaction, of a quote in a local post, of an item of a
    local collection, or of the subscription to a relay.
    """
    if relays.settle(incoming, accepted=True):
        return
    if (quote := quotes.find_asked(incoming)) is not None:
        quotes.accept(incoming, quote)
        return
    if (asked := requests.find_asked(incoming)) is not None:
        requests.accept(incoming, asked)
        return
    if (item := collections.find_asked(incoming)) is not None:
        collections.accept(incoming, item)
        return
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(following.pair_name(follower.id, incoming.actor.id))
        request = FollowRequest.objects.filter(account=follower, target=incoming.actor).first()
        if request is not None and is_answered(request, incoming):
            following.accept_requests(request)


def handle_reject(incoming: Incoming) -> None:
    """Handle the rejection of a local account's follow, follow request or interaction, of a quote in a local post, of an
    item of a local collection, or of the subscription to a relay.
    """
    if relays.settle(incoming, accepted=False):
        return
    if (quote := quotes.find_asked(incoming)) is not None:
        quotes.reject(quote)
        return
    if (asked := requests.find_asked(incoming)) is not None:
        settle_request(request_id=asked.id, accepted=False)
        return
    if (item := collections.find_asked(incoming)) is not None:
        collections.reject(incoming, item)
        return
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(following.pair_name(follower.id, incoming.actor.id))
        for model in (Follow, FollowRequest):
            row = model._default_manager.filter(account=follower, target=incoming.actor).first()
            if row is not None and is_answered(row, incoming):
                following.end_following(follower.id, incoming.actor.id, ended_by_id=incoming.actor.id)


def handle_block(incoming: Incoming) -> None:
    """Store the Block of a local account by a remote account, and end the follows in both directions."""
    uri, target = incoming.needed_or_made_uri(), local_account(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        existing = find_block(uri)
        if existing is not None and existing.account_id != incoming.actor.id:
            raise Rejected(Reason.TAKEN_ID_OF_BLOCK)
        block_account(account=incoming.actor, target=target, uri=uri)


def handle_move(incoming: Incoming) -> None:
    """Move the local followers of the actor to another account, if that account lists the actor in its `alsoKnownAs`."""
    if incoming.object_uri != incoming.actor.uri:
        raise Rejected(Reason.MOVED_BY_OTHER)
    target_uri = web_uri(incoming.document.get("target"))
    if target_uri is None:
        raise Rejected(Reason.MOVE_TO_NOWHERE)
    receive_move(account=incoming.actor, target=find_successor(incoming.actor.uri, target_uri))
