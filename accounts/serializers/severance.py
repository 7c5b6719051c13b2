"""The entity "RelationshipSeveranceEvent" (contract, entities)."""

from __future__ import annotations

from typing import Any

from accounts.models import SeveredAccount
from social.api.serializers import EntitySerializer
from social.kernel import clock


class SeveranceSerializer(EntitySerializer):
    """RelationshipSeveranceEvent: counts of the follows that an account has lost. Needs `severance`."""

    def to_representation(self, instance: SeveredAccount) -> dict[str, Any]:
        severance = instance.severance
        return {
            "id": str(instance.id),
            "type": severance.type,
            "purged": severance.purged,
            "target_name": severance.target_name,
            "followers_count": instance.followers_count,
            "following_count": instance.following_count,
            "created_at": clock.iso(instance.created_at),
        }
