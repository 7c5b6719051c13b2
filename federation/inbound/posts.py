"""Acts upon posts, boosts and favourites of other servers, through the services that local clients use.

Source: contract, federation section 7; security rows 8, 13, 16 and 19.
"""

from __future__ import annotations

from typing import Final

from django.db import IntegrityError, transaction

from accounts.models import Follow
from federation.documents.addressing import visibility_of
from federation.documents.reading import Rejected, moment_of, same_origin, uri_of, uris_of
from federation.documents.received_notes import is_note, read_note
from federation.inbound.incoming import Incoming, remember_undone
from federation.models import Tombstone
from federation.remote.fetching import Missing, fetch_document
from federation.remote.posts import fetch_ancestors, find_or_fetch_post, is_related, keep_note, refuse_tombstone
from federation.remote.references import find_account, find_post, is_received
from social.kernel.errors import Forbidden, NotFound
from social.kernel.locks import lock
from statuses.models import Favourite, Status, Visibility
from statuses.queries.statuses import list_statuses
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status, reblog_status, unfavourite_status, unreblog_status

_REBLOGS: Final = (Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE)


def create(incoming: Incoming) -> None:
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


def forwarded(incoming: Incoming) -> None:
    """What one server passes on of another is only a hint: the post is looked at where it belongs (security row 9)."""
    uri = incoming.needed_object_uri()
    known = find_post(uri)
    if incoming.kind == "Create" and known is None:
        parent_uri = uri_of(incoming.object.get("inReplyTo"))
        parent = find_post(parent_uri) if parent_uri is not None else None
        if parent is None:
            raise Rejected("the forwarded post answers nothing known here")
        find_or_fetch_post(uri)
    elif incoming.kind == "Delete" and known is not None and not known.local and not known.is_deleted:
        try:
            fetch_document(uri)
        except Missing as missing:
            if not missing.gone:
                raise
            _bury(uri, known.account.uri)
        else:
            raise Rejected("its origin still has the forwarded deletion's post")
    else:
        raise Rejected("the actor is not the signer")


def delete(incoming: Incoming) -> None:
    """The end of one of its actor's posts, which is refused should it arrive later."""
    uri = incoming.needed_object_uri()
    if not same_origin(uri, incoming.actor.uri):
        raise Rejected("the post is of another server")
    status = find_post(uri)
    if (status is not None and status.account_id != incoming.actor.id) or find_account(uri) is not None:
        raise Rejected("it is another actor's")
    _bury(uri, incoming.actor.uri)


def _bury(uri: str, actor_uri: str) -> None:
    with transaction.atomic():
        lock(f"object:{uri}")
        Tombstone.objects.update_or_create(uri=uri, actor_uri=actor_uri, defaults={"expires_at": None})
        status = find_post(uri)
        if status is not None and status.account.uri == actor_uri:
            delete_status(status_id=status.id, delete_media=True)


def announce(incoming: Incoming) -> None:
    """A boost by somebody followed here, or of a post of ours; the boosted post is fetched at its origin.

    The booster's own may stand in the boost, as those for followers do: the server's signature cannot fetch them.
    """
    uri, object_uri = incoming.needed_uri(), incoming.needed_object_uri()
    known = find_post(object_uri)
    followed = Follow.objects.filter(target=incoming.actor, account__domain=None).exists()
    if not followed and not (known is not None and known.local):
        raise Rejected("nobody here has to do with the boost")
    status = known or _own_post(incoming) or find_or_fetch_post(object_uri)
    status = status.reblog_of or status
    if not list_statuses(incoming.actor.id).filter(id=status.id).exists():
        raise Rejected("the booster cannot read the post")
    document = incoming.document
    visibility = visibility_of(uris_of(document.get("to")), uris_of(document.get("cc")), incoming.actor.followers_url)
    try:
        with transaction.atomic():
            lock(f"object:{uri}")
            refuse_tombstone(uri, incoming.actor)
            reblog_status(
                account=incoming.actor,
                status=status,
                visibility=visibility if visibility in _REBLOGS else Visibility.PRIVATE,
                uri=uri,
                created_at=moment_of(document.get("published")),
            )
    except Forbidden:
        raise Rejected("the post may not be boosted") from None
    except IntegrityError:
        raise Rejected("the id of the boost is another post's") from None


def _own_post(incoming: Incoming) -> Status | None:
    """The booster's own post as it stands in the boost; None when another's or none stands there."""
    if not is_note(incoming.object):
        return None
    note = read_note(incoming.object)
    if note.author_uri != incoming.actor.uri:
        return None
    fetch_ancestors(note)
    status = keep_note(note, incoming.actor, announced=False)
    if status is None:
        raise Rejected("the post was deleted")
    return status


def undo_announce(incoming: Incoming) -> bool:
    """A boost taken back; False when there is none, which is remembered for a late Announce."""
    uri = incoming.object_uri
    boost = Status.objects.filter(account=incoming.actor, uri=uri, reblog_of__isnull=False).first()
    if boost is not None:
        delete_status(status_id=boost.id)
        return True
    status = find_post(uri_of(incoming.object.get("object")) or "")
    if status is not None:
        try:
            unreblog_status(account_id=incoming.actor.id, status_id=status.id)
        except NotFound:
            status = None
    remember_undone(incoming)
    return status is not None


def like(incoming: Incoming) -> None:
    """A favourite of a post of ours that its actor may read."""
    uri, status = incoming.needed_uri(), find_post(incoming.needed_object_uri())
    if status is None or not status.local or not list_statuses(incoming.actor.id).filter(id=status.id).exists():
        raise Rejected("there is no such post here")
    try:
        with transaction.atomic():
            lock(f"object:{uri}")
            refuse_tombstone(uri, incoming.actor)
            favourite_status(account_id=incoming.actor.id, status=status, uri=uri)
    except IntegrityError:
        raise Rejected("the id of the favourite is another one's") from None


def undo_like(incoming: Incoming) -> bool:
    """A favourite taken back; False when there is none, which is remembered for a late Like."""
    row = Favourite.objects.filter(account=incoming.actor, uri=incoming.object_uri).first()
    status_id = row.status_id if row is not None else None
    if status_id is None:
        status = find_post(uri_of(incoming.object.get("object")) or "")
        status_id = status.id if status is not None else None
    if status_id is not None:
        try:
            unfavourite_status(account_id=incoming.actor.id, status_id=status_id)
        except NotFound:
            status_id = None
    if status_id is None:
        remember_undone(incoming)
    return status_id is not None
