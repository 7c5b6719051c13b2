"""The entity "Profile": one's own profile as it is edited (contract, entities)."""

from __future__ import annotations

from typing import Any

from accounts.models import Account, ActorType
from accounts.serializers.account import FieldSerializer, SourceFieldSerializer
from accounts.serializers.emoji import file_url
from accounts.serializers.featured_tag import FeaturedTagSerializer
from social.api.serializers import EntitySerializer


def _urls(account: Account, name: str) -> dict[str, str | None]:
    shown: str = getattr(account, name)
    still: str = getattr(account, f"{name}_static") or shown
    return {
        name: file_url(shown, "", "") if shown else None,
        f"{name}_static": file_url(still, "", "") if still else None,
        f"{name}_description": getattr(account, f"{name}_description"),
    }


class ProfileSerializer(EntitySerializer):
    """Profile of a local account. Context: `featured_tags`, the hashtags it shows."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "display_name": instance.display_name,
            "note": instance.note,
            "fields": SourceFieldSerializer(instance.fields, many=True).data,
            "formatted_note": instance.note_html,
            "formatted_fields": FieldSerializer(instance.fields, many=True).data,
            **_urls(instance, "avatar"),
            **_urls(instance, "header"),
            "locked": instance.locked,
            "bot": instance.actor_type in (ActorType.SERVICE, ActorType.APPLICATION),
            "hide_collections": instance.hide_collections,
            "discoverable": instance.discoverable,
            "indexable": instance.indexable,
            "show_media": instance.show_media,
            "show_media_replies": instance.show_media_replies,
            "show_featured": instance.show_featured,
            "attribution_domains": instance.attribution_domains,
            "featured_tags": FeaturedTagSerializer(
                self.context["featured_tags"], many=True, context={"account": instance}
            ).data,
        }
