"""Knows the entities of collections (contract, entities "Collections")."""

from __future__ import annotations

from typing import Any

from accounts.models import CollectionItem
from accounts.queries.collections import ShownCollection
from social.kernel import clock, links


def collection_entity(shown: ShownCollection) -> dict[str, Any]:
    """A collection as its viewer sees it; `item_count` counts what is shown."""
    collection = shown.collection
    tag = collection.tag
    return {
        "id": str(collection.id),
        "uri": collection.uri or links.collection_uri(collection.account.username, collection.id),
        "name": collection.name,
        "description": collection.description,
        "language": collection.language,
        "account_id": str(collection.account_id),
        "local": collection.uri is None,
        "sensitive": collection.sensitive,
        "discoverable": collection.discoverable,
        "url": collection.page_url,
        "item_count": len(shown.items),
        "created_at": clock.iso(collection.created_at),
        "updated_at": clock.iso(collection.updated_at),
        "tag": None if tag is None else {"name": tag.name, "url": links.tag_url(tag.name)},
        "items": [item_entity(item) for item in shown.items],
    }


def item_entity(item: CollectionItem) -> dict[str, Any]:
    """An account in a collection."""
    return {
        "id": str(item.id),
        "state": item.state,
        "created_at": clock.iso(item.created_at),
        "account_id": str(item.account_id),
    }
