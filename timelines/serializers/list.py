"""The entity "List" (contract, entities)."""

from __future__ import annotations

from typing import Any

from social.api.serializers import EntitySerializer
from timelines.models import List


class ListSerializer(EntitySerializer):
    """List: as its owner sees it; nobody else does."""

    def to_representation(self, instance: List) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "title": instance.title,
            "replies_policy": instance.replies_policy,
            "exclusive": instance.exclusive,
        }
