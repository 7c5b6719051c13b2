"""Handles Add and Remove: an actor's pinned posts, featured hashtags and collections (contract, federation section 7)."""

from accounts.queries.tags import named_tag
from accounts.services.tags import unfeature_tag_named
from federation.documents.reading import same_origin, uri_of
from federation.documents.received_collections import hashtag_of
from federation.inbound import collections
from federation.inbound.incoming import Incoming
from federation.reasons import Reason, Rejected
from federation.remote.posts import find_or_fetch_post
from federation.remote.references import find_post_by_uri
from statuses.queries.posts import load_posts
from statuses.services.pins import feature_used_tag, pin_remote_status, unpin_status


def handle_add(incoming: Incoming) -> None:
    """Pin a post or feature a hashtag on the actor's profile, or add an account to one of the actor's collections."""
    target = _collection_uri(incoming)
    if target != incoming.actor.featured_url:
        collections.add(incoming, target)
        return
    name = hashtag_of(incoming.document.get("object"))
    if name is not None:
        feature_used_tag(account=incoming.actor, name=name)
        return
    uri = incoming.needed_object_uri()
    if not same_origin(uri, incoming.actor.uri):
        raise Rejected(Reason.NOTE_OF_OTHER_SERVER)
    status = find_or_fetch_post(uri, publish_event=False, ancestors=0)
    if status.account_id != incoming.actor.id:
        raise Rejected(Reason.OTHER_AUTHOR)
    pin_remote_status(account_id=incoming.actor.id, status_id=status.id)


def handle_remove(incoming: Incoming) -> None:
    """Unpin a post, remove a featured hashtag, or remove an account from one of the actor's collections."""
    target = _collection_uri(incoming)
    if target != incoming.actor.featured_url:
        collections.remove(incoming, target)
        return
    name = hashtag_of(incoming.document.get("object"))
    if name is not None:
        unfeature_tag_named(account=incoming.actor, tag=named_tag(name))
        return
    status = find_post_by_uri(incoming.needed_object_uri())
    for post in load_posts([status.id] if status is not None else ()):
        unpin_status(account_id=incoming.actor.id, status=post)


def _collection_uri(incoming: Incoming) -> str:
    target = uri_of(incoming.document.get("target"))
    if not target:
        raise Rejected(Reason.NOT_THE_FEATURED)
    return target
