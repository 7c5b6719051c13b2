"""Reads collections of other servers (contract, federation section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.models.tag import TAG_LIMIT
from federation.documents.reading import first, kinds_of, many, text_of


def items_of(document: Mapping[str, Any], limit: int) -> list[Any]:
    """The first items that stand in a collection, or in a page of one."""
    return many(document.get("orderedItems") or document.get("items"))[:limit]


def hashtag_of(item: Any) -> str | None:
    """The name of a Hashtag without its #; None for anything else."""
    item = first(item)
    if not isinstance(item, Mapping) or "Hashtag" not in kinds_of(item):
        return None
    return text_of(item.get("name"), TAG_LIMIT).removeprefix("#") or None
