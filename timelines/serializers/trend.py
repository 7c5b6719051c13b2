"""The entity "Trends::Link" (contract, entities "PreviewCard")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from accounts.serializers.tag import DayOfUseSerializer
from social.api.serializers import EntitySerializer
from statuses.models import PreviewCard
from statuses.queries.cards import load_shown_cards
from statuses.serializers.card import encode_cards
from timelines.queries.trends import load_link_histories


class TrendingLinkSerializer(EntitySerializer):
    """Trends::Link: a preview card and how often its page was linked to. Context: `cards`, encoded by id, and `histories`."""

    def to_representation(self, instance: PreviewCard) -> dict[str, Any]:
        """The entity."""
        entity: dict[str, Any] = orjson.loads(self.context["cards"][instance.id])
        return entity | {"history": DayOfUseSerializer(self.context["histories"][instance.id], many=True).data}


def present_trending_links(cards: Sequence[PreviewCard], viewer_id: int | None) -> list[Any]:
    """The entities of these cards, in their order, in a fixed number of queries."""
    shown = [card for card in cards if card.is_shown]
    if not shown:
        return []
    context = {
        "cards": encode_cards(load_shown_cards(shown, viewer_id), viewer_id),
        "histories": load_link_histories([card.id for card in shown]),
    }
    entities: list[Any] = TrendingLinkSerializer(shown, many=True, context=context).data
    return entities
