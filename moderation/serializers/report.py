"""The entity "Report" (contract, entities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from moderation.models import Report
from social.api.serializers import EntitySerializer
from social.kernel import clock


class ReportSerializer(EntitySerializer):
    """Report. Context: `accounts`, encoded entities by id."""

    def to_representation(self, instance: Report) -> dict[str, Any]:
        """The entity."""
        accounts: Mapping[int, orjson.Fragment] = self.context["accounts"]
        return {
            "id": str(instance.id),
            "action_taken": instance.is_resolved,
            "action_taken_at": clock.iso(instance.action_taken_at) if instance.action_taken_at is not None else None,
            "category": instance.category,
            "comment": instance.comment,
            "forwarded": instance.forwarded,
            "created_at": clock.iso(instance.created_at),
            "status_ids": [str(number) for number in instance.status_ids],
            "rule_ids": None if instance.rule_ids is None else [str(number) for number in instance.rule_ids],
            "collection_ids": [str(number) for number in instance.collection_ids],
            "target_account": accounts[instance.target_account_id],
        }
