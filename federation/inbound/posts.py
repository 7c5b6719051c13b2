"""Handles Create, Update and Delete of posts and actors (contract, federation section 7; security rows 8, 13 and 18)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.db import transaction

from federation.documents.reading import Rejected, same_origin, text_of, uri_of, uris_of
from federation.documents.received_devices import is_encrypted_message
from federation.documents.received_notes import (
    OPTION_LENGTH,
    ReceivedNote,
    author_ids,
    is_note,
    is_vote,
    read_sent_note,
)
from federation.inbound import collections, messages, quotes, requests
from federation.inbound.forwarding import forward
from federation.inbound.incoming import Incoming
from federation.inbound.quotas import remember_gone
from federation.models import Tombstone
from federation.reasons import Reason
from federation.remote.actors import end_actor, keep_described, refresh
from federation.remote.fetching import fetch_document
from federation.remote.permitted import authorize
from federation.remote.posts import deliver_note, is_related, keep_note, may_be_related, revise_note
from federation.remote.references import find_account_by_uri, find_post_by_uri, is_received
from federation.remote.requests import request_network
from social.kernel import clock
from social.kernel.locks import lock
from statuses.models import Poll
from statuses.queries.statuses import find_post_and_relations
from statuses.services.deleting import delete_status
from statuses.services.holding import forget_received
from statuses.services.polls import vote


def handle_create(incoming: Incoming) -> None:
    """Store a post of the actor, if the post is relevant to a local account; store an encrypted message, or count a vote in a
    poll.

    A post that is not embedded is fetched, unless the addressing shows that it is not relevant to any local account. Raises
    Rejected for another author's post.
    """
    if not incoming.object:
        uri = incoming.needed_object_uri()
        if not same_origin(uri, incoming.actor.uri):
            raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
        document = incoming.document
        addressed = {*uris_of(document.get("to")), *uris_of(document.get("cc"))}
        if not may_be_related(incoming.actor, incoming.recipient, addressed):
            raise Rejected(Reason.CONCERNS_NOBODY)
        note = read_sent_note(fetch_document(uri), incoming.actor.uri, document)
    elif is_encrypted_message(incoming.object):
        messages.receive(incoming)
        return
    elif is_vote(incoming.object):
        _vote(incoming)
        return
    elif is_note(incoming.object):
        note = read_sent_note(incoming.object, incoming.actor.uri, incoming.document)
    else:
        raise Rejected(Reason.NO_NOTE)
    if note.author_uri != incoming.actor.uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    if not is_related(note, incoming.actor, incoming.recipient):
        raise Rejected(Reason.CONCERNS_NOBODY)
    with transaction.atomic():
        # The lock ensures that only one of two simultaneous copies is stored and forwarded.
        lock(f"object:{note.uri}")
        status = (
            deliver_note(note, incoming.actor, incoming.recipient)
            if is_received(note.uri)
            else keep_note(note, incoming.actor, recipient=incoming.recipient)
        )
        if status is None or status.in_reply_to_id is None:
            return
        authorize(status)
        # A new post has no boosts or quotes yet: it needs to be forwarded only if it is a reply.
        if incoming.object:
            forward(incoming, status)


def _vote(incoming: Incoming) -> None:
    """Count a vote in a local poll, which names its option by the text, if the actor may read the poll."""
    authors = author_ids(incoming.object)
    if authors and incoming.actor.uri not in authors:
        raise Rejected(Reason.VOTE_OF_OTHER)
    status = find_post_by_uri(uri_of(incoming.object.get("inReplyTo")) or "")
    poll = Poll.objects.filter(status=status).first() if status is not None and status.local else None
    if poll is None:
        raise Rejected(Reason.NO_SUCH_POLL)
    post, relations = find_post_and_relations(poll.status_id, incoming.actor.id)
    name = text_of(incoming.object.get("name"), OPTION_LENGTH).strip()
    choices = [poll.options.index(name)] if name in poll.options else []
    if not choices:
        raise Rejected(Reason.NO_SUCH_OPTION)
    vote(account_id=incoming.actor.id, poll=poll, post=post, relations=relations, choices=choices)


UNKNOWN_POST_AGE: Final = timedelta(days=1)
"""Maximum age of an unknown post that is stored when an edit of it arrives."""


def handle_update(incoming: Incoming) -> None:
    """Update the actor itself, or one of its posts or collections, from the embedded document, which the actor's signature
    proves.

    An embedded document is not fetched again, because its server may answer from a cache for some minutes. A document that is
    given by its id alone is fetched.
    """
    if incoming.object_uri == incoming.actor.uri:
        _update_actor(incoming)
    elif collections.is_about_collection(incoming):
        collections.update(incoming)
    elif is_note(incoming.object):
        _update_post(incoming, incoming.object)
    elif not incoming.object and find_post_by_uri(incoming.needed_object_uri()) is not None:
        if not same_origin(incoming.needed_object_uri(), incoming.actor.uri):
            raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
        _update_post(incoming, fetch_document(incoming.needed_object_uri()))
    else:
        raise Rejected(Reason.ONLY_OWN_UPDATED)


def _update_actor(incoming: Incoming) -> None:
    if incoming.object:
        request_network(keep_described(incoming.actor, incoming.object))
    else:
        refresh(incoming.actor)


def _update_post(incoming: Incoming, document: Mapping[str, Any]) -> None:
    """Store an edit, if the document says that the post was edited after the stored version; the post's visibility and the post
    that it answers do not change. Raises Rejected for another author's post, a deleted post, and an unknown post that is not
    relevant to any local account.
    """
    actor = incoming.actor
    note = read_sent_note(document, actor.uri, incoming.document)
    if note.author_uri != actor.uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    if actor.suspended:
        raise Rejected(Reason.SUSPENDED_AUTHOR)
    status = find_post_by_uri(note.uri)
    if status is None:
        if not _is_to_be_announced(note, incoming):
            raise Rejected(Reason.CONCERNS_NOBODY)
        keep_note(note, actor, recipient=incoming.recipient)
        return
    if status.is_deleted:
        raise Rejected(Reason.DELETED_NOTE)
    if status.account_id != actor.id or status.is_reblog:
        raise Rejected(Reason.OTHER_AUTHOR)
    with transaction.atomic():
        lock(f"object:{note.uri}")
        if _is_to_be_announced(note, incoming):
            deliver_note(note, actor, incoming.recipient)
        if revise_note(status, note, incoming.recipient, from_author=bool(incoming.object)):
            forward(incoming, status)


def _is_to_be_announced(note: ReceivedNote, incoming: Incoming) -> bool:
    """Tell whether an edit is handled like a new post: the post is at most UNKNOWN_POST_AGE old and relevant to a local
    account.
    """
    is_young = clock.now() - note.published <= UNKNOWN_POST_AGE
    return is_young and is_related(note, incoming.actor, incoming.recipient)


REMEMBERED_UNKNOWN: Final = timedelta(days=3)
"""Time for which an unknown post is refused after its Delete: longer than servers retry the delivery of a post."""


def handle_delete(incoming: Incoming) -> None:
    """Delete the actor itself, one of its posts or collections, or its consent to a quote, another interaction or
    being in a collection."""
    if quotes.revoke(incoming) or requests.revoke(incoming) or collections.end(incoming):
        return
    if incoming.object_uri == incoming.actor.uri:
        end_actor(incoming.actor)
    else:
        _delete_post(incoming)


def _delete_post(incoming: Incoming) -> None:
    """Delete a post of the actor, or refuse it should it arrive later."""
    uri = incoming.needed_object_uri()
    if not same_origin(uri, incoming.actor.uri):
        raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
    status = find_post_by_uri(uri)
    if (status is not None and status.account_id != incoming.actor.id) or find_account_by_uri(uri) is not None:
        raise Rejected(Reason.THING_OF_OTHER_ACTOR)
    with transaction.atomic():
        delete_remote_post(uri, incoming.actor.uri)
        if status is not None and not status.is_deleted:
            forward(incoming, status)


def delete_remote_post(uri: str, actor_uri: str) -> None:
    """Delete the post with this id, if it is this actor's, and refuse it should it arrive again.

    An unknown post is refused for REMEMBERED_UNKNOWN, because it may still be on its way.
    """
    with transaction.atomic():
        lock(f"object:{uri}")
        status = find_post_by_uri(uri)
        if status is None or status.account.uri != actor_uri:
            forget_received(uri=uri, author_uri=actor_uri)
            remember_gone(uri, actor_uri, REMEMBERED_UNKNOWN)
            return
        Tombstone.objects.update_or_create(uri=uri, actor_uri=actor_uri, defaults={"expires_at": None})
        delete_status(status_id=status.id, delete_media=True)
