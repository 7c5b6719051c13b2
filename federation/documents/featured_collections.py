"""Documents of collections of people (FEP-7aa9; contract, federation sections 2, 3 and 7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from accounts.models import Account, Collection, CollectionItem
from accounts.models.collection import ItemState
from accounts.policies.audience import is_present
from federation.documents.actors import hashtag, iso
from federation.documents.context import PUBLIC, with_context

ITEM_TERMS: Final = (
    *("FeaturedCollection", "FeaturedItem", "FeatureRequest", "FeatureAuthorization"),
    *("topic", "featuredObject", "featureAuthorization"),
)
AUTHORIZATION_TERMS: Final = ("FeatureAuthorization", "interactingObject", "interactionTarget")
TERMS: Final = ("discoverable", *ITEM_TERMS, "Hashtag", "sensitive")


def featured_collections_uri(account: Account) -> str:
    """The list of an account's collections."""
    return f"{account.uri}/featured_collections"


def collection_uri(account: Account, collection_id: int) -> str:
    """The id of a collection of somebody of this server."""
    return f"{account.uri}/collections/{collection_id}"


def item_uri(account: Account, item_id: int) -> str:
    """The id of an item of a collection of somebody of this server."""
    return f"{account.uri}/collection_items/{item_id}"


def load_items(collection_ids: Iterable[int]) -> dict[int, list[CollectionItem]]:
    """The items of these collections whose people have agreed and are not suspended, in their order. One query."""
    found: dict[int, list[CollectionItem]] = {number: [] for number in collection_ids}
    rows = CollectionItem.objects.filter(is_present("account"), collection_id__one_of=found, state=ItemState.ACCEPTED)
    for item in rows.select_related("account").order_by("id"):
        found[item.collection_id].append(item)
    return found


def authorization_uri(account: Account, item_id: int) -> str:
    """The id of the consent of somebody of this server to be in a collection."""
    return f"{account.uri}/feature_authorizations/{item_id}"


def authorization(item: CollectionItem) -> dict[str, Any]:
    """The consent of somebody of this server to be in a collection."""
    collection = item.collection
    return {
        "id": authorization_uri(item.account, item.id),
        "type": "FeatureAuthorization",
        "interactingObject": collection.uri or collection_uri(collection.account, collection.id),
        "interactionTarget": item.account.uri,
    }


def featured_item(owner: Account, item: CollectionItem) -> dict[str, Any]:
    """An item: an account, and its consent."""
    return {
        "id": item_uri(owner, item.id),
        "type": "FeaturedItem",
        "featuredObject": item.account.uri,
        "featureAuthorization": authorization_uri(item.account, item.id),
        "published": iso(item.created_at),
    }


def featured_collection(collection: Collection, items: list[CollectionItem]) -> dict[str, Any]:
    """A collection of somebody of this server with its items."""
    owner = collection.account
    document: dict[str, Any] = {
        "id": collection_uri(owner, collection.id),
        "type": "FeaturedCollection",
        "totalItems": len(items),
        "name": collection.name,
        "attributedTo": owner.uri,
        "url": collection.page_url,
        "sensitive": collection.sensitive,
        "discoverable": collection.discoverable,
        "published": iso(collection.created_at),
        "updated": iso(collection.updated_at),
    }
    if collection.description:
        said, language = collection.description, collection.language
        document |= {"summaryMap": {language: said}} if language else {"summary": said}
    if collection.tag is not None:
        document["topic"] = hashtag(collection.tag.name)
    return document | {"orderedItems": [featured_item(owner, item) for item in items]}


def listing(owner: Account, target: str | dict[str, Any]) -> dict[str, Any]:
    """Add of a whole collection, or Remove of one by its id, to the list of its owner's. They have no ids."""
    return _listing(owner, featured_collections_uri(owner), target, TERMS)


def item_listing(owner: Account, collection_id: int, target: str | dict[str, Any]) -> dict[str, Any]:
    """Add of a whole item, or Remove of one by its id, to a collection. They have no ids."""
    return _listing(owner, collection_uri(owner, collection_id), target, ITEM_TERMS)


def _listing(owner: Account, place: str, target: str | dict[str, Any], terms: Iterable[str]) -> dict[str, Any]:
    shown = isinstance(target, dict)
    activity = {"type": "Add" if shown else "Remove", "actor": owner.uri, "target": place, "object": target}
    return with_context(activity, terms if shown else ())


def update(collection: Collection, document: dict[str, Any]) -> dict[str, Any]:
    """A change of what a collection says."""
    activity = {
        "id": f"{document['id']}#updates/{int(collection.updated_at.timestamp())}",
        "type": "Update",
        "actor": collection.account.uri,
        "to": [PUBLIC],
        "object": document,
    }
    return with_context(activity, TERMS)
