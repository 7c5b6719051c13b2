"""Acts upon an Update of an actor (contract, federation section 7)."""

from __future__ import annotations

from federation.documents.reading import Rejected
from federation.inbound.incoming import Incoming
from federation.remote.actors import refresh


def handle(incoming: Incoming) -> None:
    """The actor says that it has changed: it is looked at again where it lives, so that a copy cannot lie."""
    if incoming.object_uri != incoming.actor.uri:
        raise Rejected("only the actor's own profile is updated")
    refresh(incoming.actor)
