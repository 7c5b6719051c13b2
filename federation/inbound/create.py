"""Acts upon a Create: a post of another server (contract, federation section 7; security rows 8 and 13)."""

from __future__ import annotations

from federation.documents.reading import Rejected, same_origin, uris_of
from federation.documents.received_notes import is_note, read_note
from federation.inbound.incoming import Incoming
from federation.remote.fetching import fetch_document
from federation.remote.posts import is_related, keep_note, may_be_related
from federation.remote.references import is_received


def handle(incoming: Incoming) -> None:
    """A post of its actor, kept if anybody here has to do with it.

    One that is only named, not contained, is fetched, unless it is known beforehand that nobody here would get it. Raises
    Rejected for another author's.
    """
    if not incoming.object:
        uri = incoming.needed_object_uri()
        if not same_origin(uri, incoming.actor.uri):
            raise Rejected("the post is of another server")
        document = incoming.document
        addressed = {*uris_of(document.get("to")), *uris_of(document.get("cc"))}
        if not may_be_related(incoming.actor, incoming.recipient, addressed):
            raise Rejected("nobody here has to do with the post")
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
    keep_note(note, incoming.actor, recipient=incoming.recipient)
