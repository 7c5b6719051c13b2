"""Acts upon follows and blocks of other servers, through the services that local clients use.

Source: contract, federation section 7 "Follow", "Accept / Reject Follow", "Block"; security rows 16 and 17.
"""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, Block, Follow, FollowRequest
from accounts.services.blocking import block_account, unblock_account
from accounts.services.following import FollowWish, accept_request, end_following, follow_account, pair_name
from federation.documents.reading import Rejected, uri_of
from federation.events import FollowAnswerDue
from federation.inbound.incoming import Incoming, remember_undone
from federation.remote.instance_actor import instance_actor_uri
from federation.remote.posts import refuse_tombstone
from federation.remote.references import find_account
from social.kernel.errors import Forbidden, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock


def _local(uri: str | None) -> Account:
    account = find_account(uri) if uri is not None else None
    if account is None or not account.local:
        raise Rejected("the account is not of this server")
    return account


def follow(incoming: Incoming) -> None:
    """A Follow of one of us: a follow, a request if it takes asking, or a Reject. A repeated one is accepted again."""
    uri, target = incoming.needed_uri(), _local(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        refuse_tombstone(uri, incoming.actor)
        known = Follow.objects.filter(account=incoming.actor, target=target).exists()
        accepted: bool | None = True if known else None
        if target.uri == instance_actor_uri():
            accepted = False
        else:
            try:
                follow_account(account=incoming.actor, target=target, wish=FollowWish(), uri=uri)
            except (Forbidden, NotFound):
                accepted = False
        if accepted is not None:
            publish(
                FollowAnswerDue(account_id=target.id, follower_id=incoming.actor.id, uri=uri, accepted=accepted),
            )


def _follower(incoming: Incoming) -> Account:
    """Whose Follow an answer is about: the request's or follow's by its id, else what the embedded Follow says.

    Raises Rejected when none of ours has asked, or has asked somebody else (security row 16).
    """
    uri = incoming.object_uri
    for model in (FollowRequest, Follow):
        row = model._default_manager.select_related("account").filter(uri=uri, target=incoming.actor).first()
        if row is not None and row.account.local:
            return row.account
    embedded = incoming.object
    if embedded.get("type") != "Follow" or uri_of(embedded.get("object")) != incoming.actor.uri:
        raise Rejected("the answer is about no follow of ours")
    return _local(uri_of(embedded.get("actor")))


def accept(incoming: Incoming) -> None:
    """Our request is granted; nothing happens when there is none."""
    follower = _follower(incoming)
    with transaction.atomic():
        lock(pair_name(follower.id, incoming.actor.id))
        request = FollowRequest.objects.filter(account=follower, target=incoming.actor).first()
        if request is not None:
            accept_request(request)


def reject(incoming: Incoming) -> None:
    """Our request is refused, or our follow ended by who is followed."""
    follower = _follower(incoming)
    with transaction.atomic():
        lock(pair_name(follower.id, incoming.actor.id))
        end_following(follower.id, incoming.actor.id, ended_by_id=incoming.actor.id)


def undo_follow(incoming: Incoming) -> bool:
    """The end of a follow or request; False when there is none, which is remembered for a late Follow."""
    uri = incoming.object_uri
    row = (
        Follow.objects.select_related("target").filter(uri=uri, account=incoming.actor).first()
        or FollowRequest.objects.select_related("target").filter(uri=uri, account=incoming.actor).first()
    )
    target = row.target if row is not None else None
    if target is None:
        target = find_account(uri_of(incoming.object.get("object")) or "")
    if target is None or not target.local:
        remember_undone(incoming)
        return False
    with transaction.atomic():
        lock(pair_name(incoming.actor.id, target.id))
        ended = end_following(incoming.actor.id, target.id, ended_by_id=incoming.actor.id)
    if not ended:
        remember_undone(incoming)
    return ended


def block(incoming: Incoming) -> None:
    """Somebody elsewhere blocks one of us: follows both ways end."""
    block_account(account=incoming.actor, target=_local(incoming.object_uri), uri=incoming.needed_uri())


def undo_block(incoming: Incoming) -> bool:
    """The end of a block; False when there is none."""
    block_row = Block.objects.select_related("target").filter(uri=incoming.object_uri, account=incoming.actor).first()
    target = block_row.target if block_row is not None else None
    target = target or find_account(uri_of(incoming.object.get("object")) or "")
    if target is None or not target.local:
        return False
    unblock_account(account=incoming.actor, target=target)
    return True
