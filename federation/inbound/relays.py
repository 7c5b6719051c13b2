"""Acts upon the answers of relays to which this server has subscribed."""

from __future__ import annotations

from federation.documents.reading import same_origin
from federation.inbound.incoming import Incoming
from federation.models import Relay, RelayState


def settle(incoming: Incoming, *, accepted: bool) -> bool:
    """Write down what a relay has answered to the Follow of everybody; False when the answer is to something else.

    Only an actor on the relay's own server answers for it.
    """
    relay = Relay.objects.filter(follow_uri=incoming.object_uri or "").first()
    if relay is None or not same_origin(relay.inbox_url, incoming.actor.uri):
        return False
    state = RelayState.ACCEPTED if accepted else RelayState.REJECTED
    Relay.objects.filter(id=relay.id).update(state=state)
    return True
