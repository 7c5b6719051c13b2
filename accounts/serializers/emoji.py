"""The entity "CustomEmoji", and where pictures are (contract, entities)."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from accounts.models import CustomEmoji
from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.media import storage


def file_url(path: str, remote_url: str, default: str) -> str:
    """Where a picture is: our copy, else its origin, else the default picture. Absolute always."""
    if path:
        return storage.url(path)
    return remote_url or links.web_url(f"{settings.STATIC_URL}{default}")


class CustomEmojiSerializer(EntitySerializer):
    """CustomEmoji as it stands inside other entities."""

    def to_representation(self, instance: CustomEmoji) -> dict[str, Any]:
        """The entity."""
        return {
            "shortcode": instance.shortcode,
            "url": file_url(instance.image, instance.remote_url, ""),
            "static_url": file_url(instance.static_image or instance.image, instance.remote_url, ""),
            "visible_in_picker": instance.visible_in_picker,
        }


class PickerEmojiSerializer(CustomEmojiSerializer):
    """CustomEmoji as listed by `GET /api/v1/custom_emojis`: with its category, if it has one."""

    def to_representation(self, instance: CustomEmoji) -> dict[str, Any]:
        """The entity."""
        entity = super().to_representation(instance)
        if instance.category:
            entity["category"] = instance.category
        return entity
