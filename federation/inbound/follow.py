"""Acts upon a Follow (contract, federation section 7; security row 16)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Follow
from accounts.services.following import FollowWish, follow_account
from federation.events import FollowAnswerDue
from federation.inbound.incoming import Incoming, local_account
from federation.remote.instance_actor import instance_actor_uri
from federation.remote.posts import refuse_tombstone
from social.kernel.errors import Forbidden, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """A Follow of one of us: a follow, a request if it takes asking, or a Reject. A repeated one is accepted again."""
    uri, target = incoming.needed_uri(), local_account(incoming.object_uri)
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
