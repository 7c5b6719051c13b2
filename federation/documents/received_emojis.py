"""Reads the custom emojis of posts and accounts of other servers (contract, federation sections 5 and 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accounts.queries.emojis import shortcodes_in
from accounts.services.emojis import RemoteEmoji
from federation.documents.reading import MAX_ITEMS, image_of, kinds_of, many, text_of, time_of, web_uri

EMOJIS_LIMIT: Final = 100
"""Number of emojis of one document that are taken."""
SHORTCODE_LIMIT: Final = 2048


def read_emojis(document: Mapping[str, Any], *texts: str) -> list[RemoteEmoji]:
    """The emojis in the `tag` of a document that stand in these texts, each once."""
    written = shortcodes_in(*texts)
    found: dict[str, RemoteEmoji] = {}
    for item in many(document.get("tag"))[:MAX_ITEMS] if written else ():
        if not isinstance(item, Mapping) or "Emoji" not in kinds_of(item):
            continue
        name = text_of(item.get("name"), SHORTCODE_LIMIT).strip(":")
        url = image_of(item.get("icon"))
        if name in written and url is not None:
            found.setdefault(name, RemoteEmoji(name, url, web_uri(item.get("id")), time_of(item.get("updated"))))
    return list(found.values())[:EMOJIS_LIMIT]
