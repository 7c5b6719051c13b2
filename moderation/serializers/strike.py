"""The entity "AccountWarning" (contract, entities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from moderation.models import Appeal, Strike
from social.api.serializers import EntitySerializer
from social.kernel import clock


class StrikeSerializer(EntitySerializer):
    """AccountWarning. Context: `accounts`, encoded entities by id, and `appeals` by the id of the strike."""

    def to_representation(self, instance: Strike) -> dict[str, Any]:
        """The entity."""
        accounts: Mapping[int, orjson.Fragment] = self.context["accounts"]
        appeals: Mapping[int, Appeal] = self.context["appeals"]
        appeal = appeals.get(instance.id)
        return {
            "id": str(instance.id),
            "action": instance.action,
            "text": instance.text,
            "status_ids": None if instance.status_ids is None else [str(number) for number in instance.status_ids],
            "created_at": clock.iso(instance.created_at),
            "target_account": accounts[instance.target_account_id],
            "appeal": None if appeal is None else {"text": appeal.text, "state": appeal.state},
        }
