"""Reads remote collections, including collections of accounts (contract, federation sections 7, 8 and 16; FEP-7aa9)."""

from collections.abc import Mapping
from typing import Any

from accounts.collections.models import REMOTE_DESCRIPTION_LIMIT, REMOTE_ITEMS_LIMIT, REMOTE_NAME_LIMIT
from accounts.collections.services.remote import RemoteCollection, RemoteItem
from accounts.models.tag import TAG_LIMIT
from federation.documents import reading
from federation.reasons import Reason, Rejected
from social.kernel.text.languages import known_language
from social.kernel.text.names import one_line
from social.kernel.text.sanitize import sanitize


def items_of(document: Mapping[str, Any], limit: int) -> list[Any]:
    """Return the first `limit` items that are embedded in a collection or in a page of a collection."""
    return reading.many(document.get("orderedItems") or document.get("items"))[:limit]


def hashtag_of(item: Any) -> str | None:
    """Return the name of a Hashtag without its #; None for any other item."""
    tag = next(reading.of_kind(reading.first(item), "Hashtag"), None)
    return reading.text_of(tag.get("name"), TAG_LIMIT).removeprefix("#") or None if tag is not None else None


def is_featured_collection(document: Any) -> bool:
    """Tell whether a document is a collection of accounts."""
    return isinstance(document, Mapping) and "FeaturedCollection" in reading.kinds_of(document)


def read_collection(document: Mapping[str, Any], owner_uri: str) -> RemoteCollection:
    """Read a collection of accounts. Raises Rejected for another owner's collection, and for a collection without an id or a
    name.
    """
    uri = reading.web_uri(document.get("id"))
    if uri is None or not is_featured_collection(document):
        raise Rejected(Reason.NO_COLLECTION_OF_PEOPLE)
    if reading.web_uri(document.get("attributedTo")) != owner_uri or not reading.same_origin(uri, owner_uri):
        raise Rejected(Reason.COLLECTION_OF_OTHER)
    name = one_line(reading.text_of(document.get("name"), REMOTE_NAME_LIMIT))
    if not name:
        raise Rejected(Reason.COLLECTION_WITHOUT_NAME)
    language, description = _description(document)
    url, published = reading.link_of(document.get("url")), reading.moment_of(document.get("published"))
    items: dict[str, RemoteItem] = {}
    for value in items_of(document, REMOTE_ITEMS_LIMIT):
        item = read_item(value, uri)
        if item is not None:
            items.setdefault(item.uri, item)
    return RemoteCollection(
        uri=uri,
        url=url if url is not None and reading.same_origin(url, uri) else "",
        name=name,
        description=sanitize(description) or None,
        language=known_language(language) if language else None,
        sensitive=reading.flag_of(document.get("sensitive")),
        # A collection is discoverable only if its document says so.
        discoverable=reading.flag_of(document.get("discoverable")),
        tag=hashtag_of(document.get("topic")),
        published=published,
        updated=reading.past_of(document.get("updated")) or published,
        items=list(items.values()),
    )


def read_item(document: Any, collection_uri: str) -> RemoteItem | None:
    """Read an item of a collection; None for any other document, and for an item on another server."""
    if not isinstance(document, Mapping) or "FeaturedItem" not in reading.kinds_of(document):
        return None
    uri, object_uri = reading.web_uri(document.get("id")), reading.web_uri(document.get("featuredObject"))
    if uri is None or object_uri is None or not reading.same_origin(uri, collection_uri):
        return None
    approval_uri = reading.web_uri(document.get("featureAuthorization"))
    return RemoteItem(uri, object_uri, approval_uri, reading.moment_of(document.get("published")))


def _description(document: Mapping[str, Any]) -> tuple[str, str]:
    texts = document.get("summaryMap")
    for language, text in texts.items() if isinstance(texts, Mapping) else ():
        if isinstance(text, str):
            return known_language(language) or "", reading.text_of(text, REMOTE_DESCRIPTION_LIMIT)
    return "", reading.text_of(document.get("summary"), REMOTE_DESCRIPTION_LIMIT)
