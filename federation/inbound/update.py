"""Acts upon an Update of an actor, or of one of its posts (contract, federation section 7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from federation.documents.reading import Rejected, same_origin
from federation.documents.received_notes import ReceivedNote, is_note, read_note
from federation.inbound.incoming import Incoming
from federation.remote.actors import keep_described, refresh
from federation.remote.fetching import fetch_document
from federation.remote.posts import is_related, keep_note, new_status, remote_files
from federation.remote.references import find_post_by_uri
from social.kernel import clock
from statuses.services.receiving import revise_remote_status

NEW_FOR: Final = timedelta(days=1)
"""An edited post that is unknown here is stored when it is no older."""


def handle(incoming: Incoming) -> None:
    """The actor says that it, or a post of its own, has changed, and its own signature proves what it says.

    The document is not fetched again: its server may answer from a cache of some minutes. One that is only named is.
    """
    if incoming.object_uri == incoming.actor.uri:
        _update_actor(incoming)
    elif is_note(incoming.object):
        _update_post(incoming, read_note(incoming.object))
    elif not incoming.object and find_post_by_uri(incoming.needed_object_uri()) is not None:
        if not same_origin(incoming.needed_object_uri(), incoming.actor.uri):
            raise Rejected("the post is of another server")
        _update_post(incoming, read_note(fetch_document(incoming.needed_object_uri())))
    else:
        raise Rejected("only the actor's own profile and posts are updated")


def _update_actor(incoming: Incoming) -> None:
    if incoming.object:
        keep_described(incoming.actor, incoming.object)
    else:
        refresh(incoming.actor)


def _update_post(incoming: Incoming, note: ReceivedNote) -> None:
    """An edit, if the post says that it was edited since; who may read it, and what it answers, stay.

    Raises Rejected for another author's post, a deleted one, and one that concerns nobody here.
    """
    actor = incoming.actor
    if note.author_uri != actor.uri:
        raise Rejected("the post is another author's")
    if actor.suspended:
        raise Rejected("the author is suspended")
    status = find_post_by_uri(note.uri)
    if status is None:
        if clock.now() - note.published > NEW_FOR or not is_related(note, actor, incoming.recipient):
            raise Rejected("nobody here has to do with the post")
        keep_note(note, actor, recipient=incoming.recipient)
        return
    if status.is_deleted:
        raise Rejected("the post was deleted")
    if status.account_id != actor.id or status.is_reblog:
        raise Rejected("the post is another author's")
    if note.updated is not None:
        revise_remote_status(
            status_id=status.id,
            new=new_status(note, actor, incoming.recipient),
            files=remote_files(note, actor),
            edited_at=note.updated,
        )
