"""Knows the entity "CustomEmoji", and where pictures are (contract, entities)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from accounts.models import CustomEmoji
from social.kernel import links


def file_url(path: str, remote_url: str, default: str) -> str:
    """Where a picture is: our copy, else its origin, else the default picture. Absolute always."""
    if path:
        return links.web_url(f"{settings.MEDIA_URL}{path}")
    return remote_url or links.web_url(f"{settings.STATIC_URL}{default}")


def emoji_entity(emoji: CustomEmoji) -> dict[str, Any]:
    """The entity "CustomEmoji" as it stands inside others."""
    url = file_url(emoji.image, emoji.remote_url, "")
    static = file_url(emoji.static_image or emoji.image, emoji.remote_url, "")
    return {
        "shortcode": emoji.shortcode,
        "url": url,
        "static_url": static,
        "visible_in_picker": emoji.visible_in_picker,
    }


def emoji_entities(emojis: Iterable[CustomEmoji]) -> list[dict[str, Any]]:
    """The emojis of a text."""
    return [emoji_entity(emoji) for emoji in emojis]


def picker_entity(emoji: CustomEmoji) -> dict[str, Any]:
    """As listed by `GET /api/v1/custom_emojis`: with its category, if it has one."""
    entity = emoji_entity(emoji)
    if emoji.category:
        entity["category"] = emoji.category
    return entity
