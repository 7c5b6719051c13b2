"""The entity "Marker" (contract, entities)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from social.api.serializers import EntitySerializer
from social.kernel import clock
from timelines.models import Marker


class MarkersSerializer(EntitySerializer):
    """Markers by the name of their timeline; those that are not there are absent."""

    def to_representation(self, instance: Sequence[Marker]) -> dict[str, Any]:
        """The entity."""
        return {
            marker.timeline: {
                "last_read_id": str(marker.last_read_id),
                "version": marker.version,
                "updated_at": clock.iso(marker.updated_at),
            }
            for marker in instance
        }
