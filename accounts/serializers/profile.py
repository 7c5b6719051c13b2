"""Knows the entity "Profile": one's own profile as it is edited (contract, entities)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accounts.models import Account, ActorType, FeaturedTag
from accounts.serializers.account import shown_fields, source_fields
from accounts.serializers.emoji import file_url
from accounts.serializers.featured_tag import featured_tag_entity


def _urls(account: Account, name: str) -> dict[str, str | None]:
    shown: str = getattr(account, name)
    still: str = getattr(account, f"{name}_static") or shown
    return {
        name: file_url(shown, "", "") if shown else None,
        f"{name}_static": file_url(still, "", "") if still else None,
        f"{name}_description": getattr(account, f"{name}_description"),
    }


def profile_entity(account: Account, featured: Iterable[FeaturedTag]) -> dict[str, Any]:
    """The entity "Profile" of a local account, with the hashtags it shows."""
    return {
        "id": str(account.id),
        "display_name": account.display_name,
        "note": account.note,
        "fields": source_fields(account),
        "formatted_note": account.note_html,
        "formatted_fields": shown_fields(account),
        **_urls(account, "avatar"),
        **_urls(account, "header"),
        "locked": account.locked,
        "bot": account.actor_type in (ActorType.SERVICE, ActorType.APPLICATION),
        "hide_collections": account.hide_collections,
        "discoverable": account.discoverable,
        "indexable": account.indexable,
        "show_media": account.show_media,
        "show_media_replies": account.show_media_replies,
        "show_featured": account.show_featured,
        "attribution_domains": account.attribution_domains,
        "featured_tags": [featured_tag_entity(each, account) for each in featured],
    }
