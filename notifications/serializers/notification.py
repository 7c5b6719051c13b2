"""Knows the entity "Notification" (contract, entities)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from notifications.models import Notification
from social.api.serializers import EntitySerializer
from social.kernel import clock


class NotificationSerializer(EntitySerializer):
    """Notification. Context: `accounts` and `statuses` as encoded entities by id."""

    def to_representation(self, instance: Notification) -> dict[str, Any]:
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
        if instance.filtered:
            entity["filtered"] = True
        return entity


def represent(
    rows: Sequence[Notification],
    *,
    accounts: Mapping[int, orjson.Fragment],
    statuses: Mapping[int, orjson.Fragment],
) -> list[dict[str, Any]]:
    """The entities of a page. A notification whose post the recipient may no longer read is left out."""
    shown = [row for row in rows if row.status_id is None or row.status_id in statuses]
    context = {"accounts": accounts, "statuses": statuses}
    entities: list[dict[str, Any]] = NotificationSerializer(shown, many=True, context=context).data
    return entities
