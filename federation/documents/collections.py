"""Collections of actors and posts (contract, federation section 8)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from federation.documents.context import ACTIVITY_STREAMS, with_context
from federation.documents.reading import MAX_BYTES

ITEMS_BYTES: Final = MAX_BYTES * 3 // 4
"""Maximum size in bytes of the embedded items of a collection, because servers do not read documents larger than MAX_BYTES
(contract, federation section 16)."""


def collection(
    uri: str, total: int, *, first: str | None = None, last: str | None = None, ordered: bool = True
) -> dict[str, Any]:
    """Return a collection with its total number of items, and the addresses of its first and last page if these may be read."""
    document: dict[str, Any] = {
        "@context": ACTIVITY_STREAMS,
        "id": uri,
        "type": "OrderedCollection" if ordered else "Collection",
        "totalItems": total,
    }
    if first is not None:
        document["first"] = first
    if last is not None:
        document["last"] = last
    return document


def whole(uri: str, items: Sequence[Any], *, ordered: bool = True, terms: Iterable[str] = ()) -> dict[str, Any]:
    kind, name = ("OrderedCollection", "orderedItems") if ordered else ("Collection", "items")
    return with_context({"id": uri, "type": kind, "totalItems": len(items), name: _within_limit(items)}, terms)


def page(
    uri: str,
    part_of: str,
    items: Sequence[Any],
    *,
    total: int | None = None,
    next_uri: str | None = None,
    prev_uri: str | None = None,
    ordered: bool = True,
    terms: Sequence[str] = (),
) -> dict[str, Any]:
    kind, name = ("OrderedCollectionPage", "orderedItems") if ordered else ("CollectionPage", "items")
    document: dict[str, Any] = {"id": uri, "type": kind, "partOf": part_of}
    if total is not None:
        document["totalItems"] = total
    if next_uri is not None:
        document["next"] = next_uri
    if prev_uri is not None:
        document["prev"] = prev_uri
    document[name] = _within_limit(items)
    return with_context(document, terms)


def _within_limit(items: Sequence[Any]) -> list[Any]:
    """Return the items; once ITEMS_BYTES are used up, the remaining items are replaced by their ids."""
    room, embedded = ITEMS_BYTES, []
    for item in items:
        room -= len(orjson.dumps(item))
        embedded.append(item["id"] if room < 0 and isinstance(item, dict) and "id" in item else item)
    return embedded
