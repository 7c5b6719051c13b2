"""Acts upon a Like: a favourite (contract, federation section 7; security row 19)."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from federation.documents.reading import Rejected
from federation.inbound.incoming import Incoming
from federation.remote.posts import refuse_tombstone
from federation.remote.references import find_post_by_uri
from social.kernel.locks import lock
from statuses.queries.statuses import list_statuses
from statuses.services.interactions import favourite_status


def handle(incoming: Incoming) -> None:
    """A favourite of a post of ours that its actor may read."""
    uri, status = incoming.needed_uri(), find_post_by_uri(incoming.needed_object_uri())
    if status is None or not status.local or not list_statuses(incoming.actor.id).filter(id=status.id).exists():
        raise Rejected("there is no such post here")
    try:
        with transaction.atomic():
            lock(f"object:{uri}")
            refuse_tombstone(uri, incoming.actor)
            favourite_status(account_id=incoming.actor.id, status=status, uri=uri)
    except IntegrityError:
        raise Rejected("the id of the favourite is another one's") from None
