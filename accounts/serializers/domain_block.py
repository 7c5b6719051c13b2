"""The entity "DomainBlockPreview" (contract, endpoints)."""

from __future__ import annotations

from typing import Any

from social.api.serializers import EntitySerializer


class DomainBlockPreviewSerializer(EntitySerializer):
    """DomainBlockPreview: a pair, how many people of a server one follows and how many of them follow one."""

    def to_representation(self, instance: tuple[int, int]) -> dict[str, Any]:
        """The entity."""
        following, followers = instance
        return {"following_count": following, "followers_count": followers}
