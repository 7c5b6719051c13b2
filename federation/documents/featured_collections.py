"""Documents and activities of collections of accounts (FEP-7aa9; contract, federation sections 2, 3 and 7)."""

from collections.abc import Iterable
from typing import Any, Final

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account
from accounts.policies.audience import is_present
from federation.documents.actors import hashtag
from federation.documents.context import PUBLIC, build_activity, with_context
from social.kernel import clock, links

ITEM_TERMS: Final = (
    *("FeaturedCollection", "FeaturedItem", "FeatureRequest", "FeatureAuthorization"),
    *("topic", "featuredObject", "featureAuthorization"),
)
TERMS: Final = ("discoverable", *ITEM_TERMS, "Hashtag", "sensitive")


def featured_collections_uri(account: Account) -> str:
    """Return the id of the list of an account's collections."""
    return links.numbered_uri(account.id, "featured_collections")


def item_uri(account: Account, item_id: int) -> str:
    return links.numbered_uri(account.id, f"collection_items/{item_id}")


def load_items(collection_ids: Iterable[int]) -> dict[int, list[CollectionItem]]:
    """Return the accepted items of each collection, by collection id, oldest first. One query."""
    items: dict[int, list[CollectionItem]] = {number: [] for number in collection_ids}
    rows = CollectionItem.objects.filter(is_present("account"), collection_id__one_of=items, state=ItemState.ACCEPTED)
    for item in rows.select_related("account").order_by("id"):
        items[item.collection_id].append(item)
    return items


def load_linked(collection_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return collections in the form in which the `tag` of a post contains them, by id. Two queries, or none if there are no
    ids.
    """
    ids = list(collection_ids)
    if not ids:
        return {}
    collections = Collection.objects.filter(is_present("account"), id__one_of=ids).select_related("account", "tag")
    items = load_items(ids)
    return {one.id: _reference(one) if one.uri else featured_collection(one, items[one.id]) for one in collections}


def _reference(collection: Collection) -> dict[str, Any]:
    return {
        "id": collection.uri,
        "type": "FeaturedCollection",
        "name": collection.name,
        "attributedTo": collection.account.uri,
        "url": collection.page_url,
    }


def authorization_uri(account: Account, item_id: int) -> str:
    """Return the id of a local account's consent to be in a collection."""
    return links.numbered_uri(account.id, f"feature_authorizations/{item_id}")


def authorization(account: Account, collection: Collection, item_id: int) -> dict[str, Any]:
    return {
        "id": authorization_uri(account, item_id),
        "type": "FeatureAuthorization",
        "interactingObject": collection.object_uri,
        "interactionTarget": account.uri,
    }


def feature_request(uri: str, collection: Collection, account_uri: str) -> dict[str, Any]:
    """Return the request to put a remote account into a collection. A FeatureRequest has no `actor`; receivers treat its signer
    as the actor.
    """
    instrument = collection.object_uri
    activity = {"id": uri, "type": "FeatureRequest", "instrument": instrument, "object": account_uri}
    return with_context(activity, ["FeatureRequest"])


def answer_feature(account: Account, actor_uri: str, request_uri: str, *, item_id: int) -> dict[str, Any]:
    """Return the Accept of a FeatureRequest, with the authorization as its result, or the Reject if `item_id` is 0."""
    kind, number = ("Accept", str(item_id)) if item_id else ("Reject", "")
    uri = f"{account.uri}#{kind.lower()}s/feature_requests/{number}"
    result = {"result": authorization_uri(account, item_id)} if item_id else {}
    return build_activity(kind, uri, account.uri, request_uri, to=actor_uri, **result)


def featured_item(owner: Account, item: CollectionItem) -> dict[str, Any]:
    """Return an item of a collection: an account, and its consent."""
    member = item.account
    assert member is not None  # an accepted item has an account
    return {
        "id": item_uri(owner, item.id),
        "type": "FeaturedItem",
        "featuredObject": member.uri,
        "featureAuthorization": item.approval_uri or authorization_uri(member, item.id),
        "published": clock.iso_seconds(item.created_at),
    }


def featured_collection(collection: Collection, items: list[CollectionItem]) -> dict[str, Any]:
    owner = collection.account
    document: dict[str, Any] = {
        "id": collection.object_uri,
        "type": "FeaturedCollection",
        "totalItems": len(items),
        "name": collection.name,
        "attributedTo": owner.uri,
        "url": collection.page_url,
        "sensitive": collection.sensitive,
        "discoverable": collection.discoverable,
        "published": clock.iso_seconds(collection.created_at),
        "updated": clock.iso(collection.updated_at),
    }
    if collection.description:
        description, language = collection.description, collection.language
        document |= {"summaryMap": {language: description}} if language else {"summary": description}
    if collection.tag is not None:
        document["topic"] = hashtag(collection.tag.name)
    return document | {"orderedItems": [featured_item(owner, item) for item in items]}


def listing(owner: Account, target: str | dict[str, Any]) -> dict[str, Any]:
    """Return the activity for the owner's list of collections: an Add if `target` is a collection's document, a Remove if it is
    an id.
    """
    return _listing(owner, featured_collections_uri(owner), target, TERMS)


def item_listing(owner: Account, collection_id: int, target: str | dict[str, Any]) -> dict[str, Any]:
    """Return the activity for a collection's items: an Add if `target` is an item's document, a Remove if it is an id."""
    return _listing(owner, links.collection_uri(owner.id, collection_id), target, ITEM_TERMS)


def _listing(owner: Account, place: str, target: str | dict[str, Any], terms: Iterable[str]) -> dict[str, Any]:
    is_listed = isinstance(target, dict)
    activity = {"type": "Add" if is_listed else "Remove", "actor": owner.uri, "target": place, "object": target}
    return with_context(activity, terms if is_listed else ())


def update(collection: Collection, document: dict[str, Any]) -> dict[str, Any]:
    uri = f"{document['id']}#updates/{int(collection.updated_at.timestamp() * 1000)}"
    return build_activity("Update", uri, collection.account.uri, document, TERMS, to=[PUBLIC])
