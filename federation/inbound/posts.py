"""Handles Create, Update and Delete of posts and actors (contract, federation section 7; security rows 8, 13 and 18)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.db import transaction

from accounts.devices.services import receive_message
from federation.documents import reading, received_collections, received_devices, received_notes
from federation.inbound import collections, forwarding, quotas, quotes, requests
from federation.inbound.incoming import UNDO_RETENTION, Incoming
from federation.models import Tombstone
from federation.reasons import Reason, Rejected
from federation.remote import actors, fetching, permitted, posts, references
from federation.remote.requests import request_network
from social.kernel import clock, locks
from statuses.models import Poll
from statuses.queries.statuses import find_post_and_relations
from statuses.services import deleting, holding, polls


def handle_create(incoming: Incoming) -> None:
    """Store a post of the actor that is relevant to a local account, store an encrypted message, or count a vote in a poll.

    A post that is not embedded is fetched, if its addressing may make it relevant. Raises Rejected for another author's post.
    """
    if not incoming.object:
        uri = incoming.needed_object_uri()
        if not reading.same_origin(uri, incoming.actor.uri):
            raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
        document = incoming.document
        addressed = {*reading.uris_of(document.get("to")), *reading.uris_of(document.get("cc"))}
        if not posts.may_be_related(incoming.actor, incoming.recipient, addressed):
            raise Rejected(Reason.CONCERNS_NOBODY)
        note = received_notes.read_sent_note(fetching.fetch_document(uri), incoming.actor.uri, document)
    elif received_devices.is_encrypted_message(incoming.object):
        _receive_message(incoming)
        return
    elif received_notes.is_vote(incoming.object):
        _vote(incoming)
        return
    elif received_notes.is_note(incoming.object):
        note = received_notes.read_sent_note(incoming.object, incoming.actor.uri, incoming.document)
    else:
        raise Rejected(Reason.NO_NOTE)
    if note.author_uri != incoming.actor.uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    if not posts.is_related(note, incoming.actor, incoming.recipient):
        raise Rejected(Reason.CONCERNS_NOBODY)
    with transaction.atomic():
        # The lock ensures that only one of two simultaneous copies is stored and forwarded.
        locks.lock(f"object:{note.uri}")
        status = (
            posts.deliver_note(note, incoming.actor, incoming.recipient)
            if references.is_received(note.uri)
            else posts.store_note(note, incoming.actor, recipient=incoming.recipient)
        )
        if status is None or status.in_reply_to_id is None:
            return
        permitted.authorize(status)
        # A new post has no boosts or quotes yet; therefore it needs to be forwarded only if it is a reply.
        if incoming.object:
            forwarding.forward(incoming, status)


def _receive_message(incoming: Incoming) -> None:
    """Store an encrypted message for a device of the account in whose inbox it arrived. A message that is sent again is not
    stored again.
    """
    uri, recipient = incoming.needed_uri(), incoming.recipient
    if recipient is None or not recipient.local:
        raise Rejected(Reason.NOT_TO_A_PERSON)
    addressed = reading.uris_of(incoming.document.get("to"))
    if addressed and recipient.uri not in addressed:
        raise Rejected(Reason.FOR_SOMEBODY_ELSE)
    received = received_devices.read_message(incoming.object)
    # A sender that got no response sends the message again, perhaps after the device has fetched and removed it.
    with references.claimed_id(uri, incoming.actor.uri):
        receive_message(
            sender=incoming.actor,
            recipient=recipient,
            from_device_id=received.from_device_id,
            message=received.message,
            franking=received.franking,
        )
        quotas.remember_gone(uri, incoming.actor.uri, UNDO_RETENTION)


def _vote(incoming: Incoming) -> None:
    authors = received_notes.author_ids(incoming.object)
    if authors and incoming.actor.uri not in authors:
        raise Rejected(Reason.VOTE_OF_OTHER)
    status = references.find_post_by_uri(reading.uri_of(incoming.object.get("inReplyTo")) or "")
    poll = Poll.objects.filter(status=status).first() if status is not None and status.local else None
    if poll is None:
        raise Rejected(Reason.NO_SUCH_POLL)
    post, relations = find_post_and_relations(poll.status_id, incoming.actor.id)
    name = reading.text_of(incoming.object.get("name"), received_notes.OPTION_LENGTH).strip()
    choices = [poll.options.index(name)] if name in poll.options else []
    if not choices:
        raise Rejected(Reason.NO_SUCH_OPTION)
    polls.vote(account_id=incoming.actor.id, poll=poll, post=post, relations=relations, choices=choices)


UNKNOWN_POST_AGE: Final = timedelta(days=1)
"""Maximum age of an unknown post that is stored when an edit of it arrives."""


def handle_update(incoming: Incoming) -> None:
    """Update the actor itself, or one of its posts or collections.

    An embedded document is not fetched again, because the actor has signed it, and because the server may return an older,
    cached version for some minutes. A document that is given by its id alone is fetched.
    """
    if incoming.object_uri == incoming.actor.uri:
        _update_actor(incoming)
    elif received_collections.is_featured_collection(incoming.object):
        collections.update(incoming)
    elif received_notes.is_note(incoming.object):
        _update_post(incoming, incoming.object)
    elif not incoming.object and references.find_post_by_uri(incoming.needed_object_uri()) is not None:
        if not reading.same_origin(incoming.needed_object_uri(), incoming.actor.uri):
            raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
        _update_post(incoming, fetching.fetch_document(incoming.needed_object_uri()))
    else:
        raise Rejected(Reason.ONLY_OWN_UPDATED)


def _update_actor(incoming: Incoming) -> None:
    if incoming.object:
        request_network(actors.store_described(incoming.actor, incoming.object))
    else:
        actors.refresh(incoming.actor)


def _update_post(incoming: Incoming, document: Mapping[str, Any]) -> None:
    """Store an edit if the post was edited after the stored version; the post's visibility and parent do not change."""
    actor = incoming.actor
    note = received_notes.read_sent_note(document, actor.uri, incoming.document)
    if note.author_uri != actor.uri:
        raise Rejected(Reason.OTHER_AUTHOR)
    if actor.suspended:
        raise Rejected(Reason.SUSPENDED_AUTHOR)
    status = references.find_post_by_uri(note.uri)
    if status is None:
        if not _is_to_be_announced(note, incoming):
            raise Rejected(Reason.CONCERNS_NOBODY)
        posts.store_note(note, actor, recipient=incoming.recipient)
        return
    if status.is_deleted:
        raise Rejected(Reason.DELETED_NOTE)
    if status.account_id != actor.id or status.is_reblog:
        raise Rejected(Reason.OTHER_AUTHOR)
    with transaction.atomic():
        locks.lock(f"object:{note.uri}")
        if _is_to_be_announced(note, incoming):
            posts.deliver_note(note, actor, incoming.recipient)
        if posts.revise_note(status, note, incoming.recipient, from_author=bool(incoming.object)):
            forwarding.forward(incoming, status)


def _is_to_be_announced(note: received_notes.ReceivedNote, incoming: Incoming) -> bool:
    """Tell whether an edit is handled like a new post: the post must be relevant here, and at most UNKNOWN_POST_AGE old."""
    is_young = clock.now() - note.published <= UNKNOWN_POST_AGE
    return is_young and posts.is_related(note, incoming.actor, incoming.recipient)


UNKNOWN_RETENTION: Final = timedelta(days=3)
"""Time for which an unknown post is refused after its Delete. Other servers stop retrying the delivery of a post earlier."""


def handle_delete(incoming: Incoming) -> None:
    """Delete the actor, one of its posts or collections, or its consent to an interaction or to membership in a collection."""
    if quotes.revoke(incoming) or requests.revoke(incoming) or collections.end(incoming):
        return
    if incoming.object_uri == incoming.actor.uri:
        actors.end_actor(incoming.actor)
    else:
        _delete_post(incoming)


def _delete_post(incoming: Incoming) -> None:
    uri = incoming.needed_object_uri()
    if not reading.same_origin(uri, incoming.actor.uri):
        raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
    status = references.find_post_by_uri(uri)
    if (status is not None and status.account_id != incoming.actor.id) or references.find_account_by_uri(
        uri
    ) is not None:
        raise Rejected(Reason.THING_OF_OTHER_ACTOR)
    with transaction.atomic():
        delete_remote_post(uri, incoming.actor.uri)
        if status is not None and not status.is_deleted:
            forwarding.forward(incoming, status)


def delete_remote_post(uri: str, actor_uri: str) -> None:
    """Delete the actor's post with this id, and refuse the post from then on. An unknown post is refused for UNKNOWN_RETENTION,
    because it may still be on its way.
    """
    with transaction.atomic():
        locks.lock(f"object:{uri}")
        status = references.find_post_by_uri(uri)
        if status is None or status.account.uri != actor_uri:
            holding.forget_received(uri=uri, author_uri=actor_uri)
            quotas.remember_gone(uri, actor_uri, UNKNOWN_RETENTION)
            return
        Tombstone.objects.update_or_create(uri=uri, actor_uri=actor_uri, defaults={"expires_at": None})
        deleting.delete_status(status_id=status.id, delete_media=True)
