"""The entity "Search" (contract, entities)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from social.api.serializers import EntitySerializer


@dataclass(frozen=True)
class Results:
    """The entities that were found, presented, by kind."""

    accounts: list[Any] = field(default_factory=list)
    statuses: list[Any] = field(default_factory=list)
    hashtags: list[Any] = field(default_factory=list)
    collections: list[Any] = field(default_factory=list)


class SearchSerializer(EntitySerializer):
    """Search."""

    def to_representation(self, instance: Results) -> dict[str, Any]:
        """The entity: all four lists, whatever was asked for."""
        return {
            "accounts": instance.accounts,
            "statuses": instance.statuses,
            "hashtags": instance.hashtags,
            "collections": instance.collections,
        }
