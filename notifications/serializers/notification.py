"""The entity "Notification" (contract, entities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from notifications.queries.listing import ListedNotification
from social.api.serializers import EntitySerializer
from social.kernel import clock


class NotificationSerializer(EntitySerializer):
    """Notification. Context: `accounts` and `statuses` as encoded entities, `reports` and `strikes` as entities, by id."""

    def to_representation(self, instance: ListedNotification) -> dict[str, Any]:
        """The entity; `status` is there for the types that are about a post."""
        accounts: Mapping[int, orjson.Fragment] = self.context["accounts"]
        statuses: Mapping[int, orjson.Fragment] = self.context["statuses"]
        entity: dict[str, Any] = {
            "id": str(instance.id),
            "type": instance.type,
            "created_at": clock.iso(instance.created_at),
            "group_key": instance.group_key or f"ungrouped-{instance.id}",
            "account": accounts[instance.from_account_id],
        }
        if instance.status_id is not None:
            entity["status"] = statuses[instance.status_id]
        if instance.report_id is not None:
            entity["report"] = self.context["reports"][instance.report_id]
        if instance.strike_id is not None:
            entity["moderation_warning"] = self.context["strikes"][instance.strike_id]
        if instance.filtered:
            entity["filtered"] = True
        return entity
