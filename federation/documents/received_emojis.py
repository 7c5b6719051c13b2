"""Reads the custom emojis of remote posts and accounts (contract, federation sections 5 and 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accounts.emojis.queries import shortcodes_in
from accounts.emojis.services.remote import RemoteEmoji
from federation.documents.reading import at_most, of_kind, text_of, time_of, web_uri
from federation.documents.received_files import picture_of
from federation.reasons import Reason
from social.kernel.reasons import leave_out

EMOJIS_LIMIT: Final = 100
"""Maximum number of emojis that are read from one document; further emojis are ignored."""
SHORTCODE_LIMIT: Final = 2048


def read_emojis(document: Mapping[str, Any], *texts: str) -> list[RemoteEmoji]:
    """Return the emojis in the `tag` of a document that occur in these texts, each once."""
    shortcodes = shortcodes_in(*texts)
    found: dict[str, RemoteEmoji] = {}
    for item in of_kind(document.get("tag"), "Emoji") if shortcodes else ():
        name = text_of(item.get("name"), SHORTCODE_LIMIT).strip(":")
        icon = picture_of(item.get("icon"))
        if name in shortcodes and icon is not None:
            found.setdefault(name, RemoteEmoji(name, icon.url, web_uri(item.get("id")), time_of(item.get("updated"))))
        elif name in shortcodes or not name:
            leave_out(Reason.EMOJI_UNUSABLE)
    return at_most(list(found.values()), EMOJIS_LIMIT, Reason.TOO_MANY_EMOJIS)
