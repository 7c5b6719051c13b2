"""Acts upon a Create: a post of another server (contract, federation section 7; security rows 8 and 13)."""

from __future__ import annotations

from federation.documents.reading import Rejected, same_origin
from federation.documents.received_notes import is_note, read_note
from federation.inbound.incoming import Incoming
from federation.remote.fetching import fetch_document
from federation.remote.posts import fetch_ancestors, is_related, keep_note
from federation.remote.references import is_received


def handle(incoming: Incoming) -> None:
    """A post of its actor, kept if anybody here has to do with it.

    One that is only named, not contained, is fetched. Raises Rejected for another author's.
    """
    if not incoming.object:
        uri = incoming.needed_object_uri()
        if not same_origin(uri, incoming.actor.uri):
            raise Rejected("the post is of another server")
        note = read_note(fetch_document(uri))
    elif is_note(incoming.object):
        note = read_note(incoming.object)
    else:
        raise Rejected("the object is no post")
    if note.author_uri != incoming.actor.uri:
        raise Rejected("the post is another author's")
    if not is_related(note, incoming.actor, incoming.recipient):
        raise Rejected("nobody here has to do with the post")
    if is_received(note.uri):
        return
    fetch_ancestors(note)
    keep_note(note, incoming.actor, recipient=incoming.recipient)
