"""Handles activities about collections of accounts, and the consent to be in them (FEP-7aa9; security row 36)."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from accounts.collections.models import Collection, CollectionItem
from accounts.collections.policies import may_be_featured
from accounts.collections.services.remote import allow_item, end_item, store_consent_answer, store_item
from accounts.queries.relations import load_relations
from federation.documents.reading import first, kinds_of, same_origin, web_uri
from federation.documents.received_collections import read_item
from federation.events import FeatureAnswerDue
from federation.inbound.incoming import Incoming, local_account
from federation.reasons import Reason, Rejected
from federation.remote.collections import find_collection, find_or_fetch_collection, is_followed, store_document
from federation.remote.fetching import fetch_document
from federation.remote.requests import request_members
from social.kernel.errors import Conflict
from social.kernel.events import publish
from social.kernel.locks import delete_rows


def add(incoming: Incoming, target: str) -> None:
    """Store a new collection of a followed account, or a new item of a collection."""
    if target == incoming.actor.featured_collections_url:
        store_document(_collection_in(incoming), incoming.actor)
        return
    collection = find_collection(target, incoming.actor)
    if collection is None:
        _require_followed(incoming)
        collection = find_or_fetch_collection(target, incoming.actor)
    obj: Any = first(incoming.document.get("object"))
    item = read_item(obj if isinstance(obj, Mapping) else fetch_document(incoming.needed_object_uri()), target)
    if item is None:
        raise Rejected(Reason.NO_ACCOUNT_IN_COLLECTION)
    store_item(collection=collection, received=item)
    request_members(collection, may_ask=is_followed(incoming.actor))


def update(incoming: Incoming) -> None:
    """Store a changed collection as its owner has signed it."""
    store_document(_collection_in(incoming), incoming.actor)


def _collection_in(incoming: Incoming) -> Mapping[str, Any]:
    """Return the embedded collection, or fetch it by its id. Raises Rejected for an unknown collection of an owner whom no
    local account follows.
    """
    uri = incoming.needed_object_uri()
    if not same_origin(uri, incoming.actor.uri):
        raise Rejected(Reason.COLLECTION_OF_OTHER_SERVER)
    if find_collection(uri, incoming.actor) is None:
        _require_followed(incoming)
    return incoming.object or fetch_document(uri)


def _require_followed(incoming: Incoming) -> None:
    if not is_followed(incoming.actor):
        raise Rejected(Reason.CONCERNS_NOBODY_COLLECTION)


def remove(incoming: Incoming, target: str) -> None:
    """Delete a collection of the actor, or an item of such a collection."""
    uri = incoming.needed_object_uri()
    if target == incoming.actor.featured_collections_url:
        delete(incoming)
        return
    collection = find_collection(target, incoming.actor)
    if collection is None:
        raise Rejected(Reason.NO_SUCH_COLLECTION)
    item = CollectionItem.objects.filter(uri=uri, collection=collection).first()
    if item is not None:
        end_item(item=item)


def end(incoming: Incoming) -> bool:
    """Delete a collection of the actor, or withdraw the actor's consent to be in a collection; return False if the activity is
    about neither.
    """
    # Nearly all Deletes are about posts, and embed a Tombstone. Such Deletes need no queries here.
    if "Tombstone" in kinds_of(incoming.object):
        return False
    return revoke(incoming) or delete(incoming)


def delete(incoming: Incoming) -> bool:
    """Delete a collection of the actor; return False if the collection is unknown."""
    return delete_rows(Collection.objects.filter(uri=incoming.object_uri or "", account=incoming.actor)) > 0


def handle_request(incoming: Incoming) -> None:
    """Answer a request to put a local account into a collection, according to the account's policy. An account that has left
    the collection is not added again.
    """
    uri, target = incoming.needed_uri(), local_account(incoming.object_uri)
    collection_uri = web_uri(incoming.document.get("instrument"))
    if collection_uri is None:
        raise Rejected(Reason.NO_COLLECTION_OF_ACTOR)
    item = None
    if may_be_featured(target, load_relations(incoming.actor.id, [target.id])) and hasattr(target, "user"):
        collection = find_or_fetch_collection(collection_uri, incoming.actor)
        try:
            item = allow_item(collection=collection, account=target, request_uri=uri)
        except Conflict:
            raise Rejected(Reason.TAKEN_ID_OF_REQUEST) from None
    with transaction.atomic():
        publish(
            FeatureAnswerDue(
                account_id=target.id, actor_id=incoming.actor.id, item_id=0 if item is None else item.id, uri=uri
            )
        )


def find_answered(incoming: Incoming) -> CollectionItem | None:
    """Return the item whose FeatureRequest the activity answers, or None. Raises Rejected for an answer by another account."""
    items = CollectionItem.objects.filter(collection__uri=None, request_uri__isnull=False)
    item = items.filter(request_uri=incoming.object_uri or "").first()
    if item is not None and item.account_id != incoming.actor.id:
        raise Rejected(Reason.ANSWER_OF_OTHER_ACCOUNT)
    return item


def revoke(incoming: Incoming) -> bool:
    """Remove the actor from the collections whose authorization the actor deletes; return False if there are none."""
    items = CollectionItem.objects.filter(approval_uri=incoming.object_uri or "", account=incoming.actor)
    item_ids = list(items.values_list("id", flat=True))
    for item_id in item_ids:
        store_consent_answer(item_id=item_id, accepted=False, account_id=incoming.actor.id)
    return bool(item_ids)
