"""The entities "Admin::Trends::Status", "Admin::Trends::Link" and "PreviewCardProvider" (contract, entities)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from accounts.queries.tags import view_tags
from moderation.serializers.admin_tag import AdminTagSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.queries.page import fill, of_rows
from statuses.queries.rows import load_rows
from statuses.serializers.presenting import present_by_id
from timelines.models import LinkPublisher
from timelines.queries.trends import Trending, load_cards, load_tags
from timelines.serializers.trend import present_trending_links


class TrendingForStaffSerializer(EntitySerializer):
    """What trends, with whether staff still have to decide about it. Context: `entities` by id."""

    def to_representation(self, instance: Trending) -> dict[str, Any]:
        """The entity."""
        entity: dict[str, Any] = self.context["entities"][instance.object_id]
        return entity | {"requires_review": instance.allowed is None}


class LinkPublisherSerializer(EntitySerializer):
    """PreviewCardProvider: a site whose pages have trended; its id is a string (seed coverage D-04)."""

    def to_representation(self, instance: LinkPublisher) -> dict[str, Any]:
        """The entity."""
        reviewed, requested = instance.reviewed_at, instance.requested_review_at
        return {
            "id": str(instance.id),
            "domain": instance.domain,
            "trendable": instance.trendable,
            "reviewed_at": clock.iso(reviewed) if reviewed is not None else None,
            "requested_review_at": clock.iso(requested) if requested is not None else None,
            "requires_review": reviewed is None,
        }


def present_tags_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """The entities of these hashtags, in their order."""
    tags = load_tags(found.object_id for found in trending)
    return AdminTagSerializer(tags, many=True, context={"view": view_tags(tags, viewer_id)}).data


def present_statuses_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """The entities of these public posts, in their order, also by people whom the viewer blocks or who block the viewer."""
    page = fill(of_rows(load_rows([found.object_id for found in trending]), viewer_id))
    return _present(
        trending, {number: orjson.loads(orjson.dumps(shown)) for number, shown in present_by_id(page).items()}
    )


def present_links_for_staff(trending: Sequence[Trending], viewer_id: int) -> Any:
    """The entities of these links, in their order, those without a preview left out."""
    cards = [card for card in load_cards(found.object_id for found in trending) if card.is_shown]
    shown = zip(cards, present_trending_links(cards, viewer_id), strict=True)
    return _present(trending, {card.id: {"id": str(card.id)} | entity for card, entity in shown})


def _present(trending: Sequence[Trending], entities: dict[int, Any]) -> Any:
    present = [found for found in trending if found.object_id in entities]
    return TrendingForStaffSerializer(present, many=True, context={"entities": entities}).data
