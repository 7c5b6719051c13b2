"""Acts upon a Follow (contract, federation section 7; security row 16)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import FollowChange, follow_account
from federation.documents.reading import Rejected
from federation.events import FollowAnswerDue
from federation.inbound.incoming import Incoming, local_account, remember_undone
from federation.remote.instance_actor import instance_actor_uri
from federation.remote.posts import refuse_tombstone
from social.kernel.errors import Forbidden, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """A Follow of one of us: a follow, a request if it takes asking, or a Reject. A repeated one is accepted again.

    The newest Follow is the one that counts: an Undo of an earlier one that comes late ends nothing.
    """
    uri, target = incoming.needed_uri(), local_account(incoming.object_uri)
    with transaction.atomic():
        lock(f"object:{uri}")
        refuse_tombstone(uri, incoming.actor)
        _refuse_used_id(uri, incoming.actor, target)
        accepted: bool | None = None
        if target.uri == instance_actor_uri():
            accepted = False
        else:
            try:
                earlier = follow_account(account=incoming.actor, target=target, change=FollowChange(), uri=uri)
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


def _refuse_used_id(uri: str, actor: Account, target: Account) -> None:
    """Raise Rejected for the id of a Follow of somebody else: each has an id of its own, by which it is undone."""
    for model in (Follow, FollowRequest):
        row = model._default_manager.filter(uri=uri).values_list("account_id", "target_id").first()
        if row is not None and row != (actor.id, target.id):
            raise Rejected("the id of the follow is another one's")
