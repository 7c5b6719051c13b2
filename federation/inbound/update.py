"""Acts upon an Update of an actor (contract, federation section 7)."""

from __future__ import annotations

from federation.documents.reading import Rejected
from federation.inbound.incoming import Incoming
from federation.remote.actors import keep_described, refresh


def handle(incoming: Incoming) -> None:
    """The actor says that it has changed, and its own signature proves what it says.

    The document is not fetched again: its server may answer from a cache of some minutes. One that is only named is.
    """
    if incoming.object_uri != incoming.actor.uri:
        raise Rejected("only the actor's own profile is updated")
    if incoming.object:
        keep_described(incoming.actor, incoming.object)
    else:
        refresh(incoming.actor)
