"""Acts upon the Accept of a Follow (contract, federation section 7; security rows 16 and 17)."""

from __future__ import annotations

from django.db import transaction

from accounts.models import FollowRequest
from accounts.services.following import accept_requests, pair_name
from federation.inbound.follow_answers import find_follower, is_answered
from federation.inbound.incoming import Incoming
from social.kernel.locks import lock


def handle(incoming: Incoming) -> None:
    """Our request is granted; nothing happens when there is none."""
    follower = find_follower(incoming)
    with transaction.atomic():
        lock(pair_name(follower.id, incoming.actor.id))
        request = FollowRequest.objects.filter(account=follower, target=incoming.actor).first()
        if request is not None and is_answered(request, incoming):
            accept_requests(request)
