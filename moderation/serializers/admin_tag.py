"""The entity "Admin::Tag" (contract, entities)."""

from __future__ import annotations

from typing import Any

from accounts.models import Tag
from accounts.serializers.tag import TagSerializer


class AdminTagSerializer(TagSerializer):
    """Admin::Tag: a hashtag as its viewer sees it, with what staff say of it. Context: as for Tag."""

    def to_representation(self, instance: Tag) -> dict[str, Any]:
        """The entity."""
        return super().to_representation(instance) | {
            "trendable": bool(instance.trendable),
            "usable": instance.usable,
            "requires_review": instance.reviewed_at is None,
            "listable": instance.listable,
        }
