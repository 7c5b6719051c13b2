"""The entity "Admin::Report" (contract, entities)."""

from __future__ import annotations

from typing import Any

from moderation.models import Report
from moderation.serializers.instance import RuleSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock


class AdminReportSerializer(EntitySerializer):
    """Admin::Report. Context: `accounts` and `statuses`, entities by id; `rules`, rows by id. What is gone is left out."""

    def to_representation(self, instance: Report) -> dict[str, Any]:
        """The entity."""
        accounts = self.context["accounts"]
        statuses, rules = self.context["statuses"], self.context["rules"]
        named = [rules[number] for number in instance.rule_ids or () if number in rules]
        return {
            "id": str(instance.id),
            "action_taken": instance.is_resolved,
            "action_taken_at": clock.iso(instance.action_taken_at) if instance.action_taken_at is not None else None,
            "category": instance.category,
            "comment": instance.comment,
            "forwarded": instance.forwarded,
            "created_at": clock.iso(instance.created_at),
            "updated_at": clock.iso(instance.updated_at),
            "account": accounts.get(instance.account_id),
            "target_account": accounts.get(instance.target_account_id),
            "assigned_account": accounts.get(instance.assigned_account_id),
            "action_taken_by_account": accounts.get(instance.action_taken_by_id),
            "statuses": [statuses[number] for number in instance.status_ids if number in statuses],
            "rules": RuleSerializer(named, many=True).data,
        }
