"""Handles the answers of relays that this server has subscribed to."""

from __future__ import annotations

from federation.documents.reading import same_origin
from federation.inbound.incoming import Incoming
from federation.models import Relay, RelayState


def settle(incoming: Incoming, *, accepted: bool) -> bool:
    """Store a relay's answer to the Follow of the public collection; False when the activity does not answer such a Follow.

    Only an actor on the relay's own server may answer for it.
    """
    relay = Relay.objects.filter(follow_uri=incoming.object_uri or "").first()
    if relay is None or not same_origin(relay.inbox_url, incoming.actor.uri):
        return False
    state = RelayState.ACCEPTED if accepted else RelayState.REJECTED
    Relay.objects.filter(id=relay.id).update(state=state)
    return True
