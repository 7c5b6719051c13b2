"""The entities "Suggestion" and "FamiliarFollowers" (contract, entities)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accounts.queries.discovery import Suggestion
from social.api.serializers import EntitySerializer

# What older clients know as `source`.
_OLD_SOURCES: Final = {"friends_of_friends": "past_interactions", "most_followed": "global"}


class SuggestionSerializer(EntitySerializer):
    """Suggestion. Context: `accounts`, encoded entities by id."""

    def to_representation(self, instance: Suggestion) -> dict[str, Any]:
        """The entity."""
        return {
            "source": _OLD_SOURCES[instance.source],
            "sources": [instance.source],
            "account": self.context["accounts"][instance.account_id],
        }


class FamiliarFollowersSerializer(EntitySerializer):
    """FamiliarFollowers: the id of an account, with the ids of its followers. Context: `accounts`, as above."""

    def to_representation(self, instance: tuple[int, Sequence[int]]) -> dict[str, Any]:
        """The entity; who is not among the accounts is left out."""
        account_id, people = instance
        accounts = self.context["accounts"]
        return {"id": str(account_id), "accounts": [accounts[number] for number in people if number in accounts]}
