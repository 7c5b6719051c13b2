"""Acts upon the Reject of a Follow (contract, federation section 7)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Follow, FollowRequest
from accounts.services.following import end_following, pair_name
from federation.inbound.follow_answers import find_follower, is_answered
from federation.inbound.incoming import Incoming
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """Our request is refused, or our follow ended by who is followed."""
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(pair_name(follower.id, incoming.actor.id))
        for model in (Follow, FollowRequest):
            row = model._default_manager.filter(account=follower, target=incoming.actor).first()
            if row is not None and is_answered(row, incoming):
                end_following(follower.id, incoming.actor.id, ended_by_id=incoming.actor.id)
