"""The entity "Conversation" (contract, entities)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.serializers.presenting import present_accounts
from social.api.serializers import EntitySerializer
from statuses.queries.page import hydrate
from statuses.serializers.presenting import present_by_id
from timelines.models import Conversation


class ConversationSerializer(EntitySerializer):
    """Conversation: with the others in it, or with oneself when there is nobody else. Context: `accounts` and `statuses`,
    presented, by id; what is not there may not be shown.
    """

    def to_representation(self, instance: Conversation) -> dict[str, Any]:
        """The entity."""
        accounts = self.context["accounts"]
        people = instance.participants or [instance.account_id]
        return {
            "id": str(instance.id),
            "unread": instance.unread,
            "accounts": [accounts[number] for number in people if number in accounts],
            "last_status": self.context["statuses"].get(instance.last_status_id),
        }


def present_conversations(conversations: Sequence[Conversation], viewer_id: int) -> list[Any]:
    """The entities of one's own conversations, in their order, in a fixed number of queries."""
    people = {number for one in conversations for number in (one.participants or [one.account_id])}
    context = {
        "accounts": present_accounts(sorted(people), viewer_id),
        "statuses": present_by_id(hydrate([one.last_status_id for one in conversations], viewer_id)),
    }
    entities: list[Any] = ConversationSerializer(list(conversations), many=True, context=context).data
    return entities
