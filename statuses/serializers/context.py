"""The entity "Context" (contract, entities)."""

from __future__ import annotations

from typing import Any

from social.api.serializers import EntitySerializer
from statuses.queries.threads import Context


class ContextSerializer(EntitySerializer):
    """Context: the posts above and below a post. Context: `statuses`, encoded entities by id."""

    def to_representation(self, instance: Context) -> dict[str, Any]:
        """The entity; what is not among the posts is left out."""
        statuses = self.context["statuses"]
        return {
            "ancestors": [statuses[row.id] for row in instance.ancestors if row.id in statuses],
            "descendants": [statuses[row.id] for row in instance.descendants if row.id in statuses],
        }
