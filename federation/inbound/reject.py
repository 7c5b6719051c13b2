"""Acts upon the Reject of a Follow (contract, federation section 7)."""

from __future__ import annotations

from django.db import transaction

from accounts.services.following import end_following, pair_name
from federation.inbound.follow_answers import find_follower
from federation.inbound.incoming import Incoming
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """Our request is refused, or our follow ended by who is followed."""
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(pair_name(follower.id, incoming.actor.id))
        end_following(follower.id, incoming.actor.id, ended_by_id=incoming.actor.id)
