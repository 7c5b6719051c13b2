"""The entity "FeaturedTag" (contract, entities; one shape everywhere: SEED-079)."""

from __future__ import annotations

from typing import Any

from accounts.models import Account, FeaturedTag
from social.api.serializers import EntitySerializer
from social.kernel import links


class FeaturedTagSerializer(EntitySerializer):
    """FeaturedTag: a hashtag on a profile; needs `tag` loaded. Context: `account`, whose profile it is."""

    def to_representation(self, instance: FeaturedTag) -> dict[str, Any]:
        """The entity; the count is a string."""
        account: Account = self.context["account"]
        last = instance.last_status_at
        return {
            "id": str(instance.id),
            "name": instance.name,
            "url": links.tagged_url(account.page_url, instance.tag.name),
            "statuses_count": str(instance.statuses_count),
            "last_status_at": None if last is None else last.date().isoformat(),
        }
