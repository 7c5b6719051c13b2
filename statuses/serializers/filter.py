"""The entities of filters (contract, entities "Filters")."""

from typing import Any

from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.models import Filter, FilterAction, FilterKeyword, FilterStatus


class FilterSerializer(EntitySerializer):
    """The entity "Filter" with its keywords and posts; needs both prefetched."""

    def to_representation(self, instance: Filter) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "title": instance.title,
            "context": instance.context,
            "expires_at": clock.iso_or_none(instance.expires_at),
            "filter_action": instance.action,
            "keywords": FilterKeywordSerializer(instance.keywords.all(), many=True).data,
            "statuses": FilterStatusSerializer(instance.statuses.all(), many=True).data,
        }


class FilterKeywordSerializer(EntitySerializer):
    def to_representation(self, instance: FilterKeyword) -> dict[str, Any]:
        return {"id": str(instance.id), "keyword": instance.keyword, "whole_word": instance.whole_word}


class FilterStatusSerializer(EntitySerializer):
    def to_representation(self, instance: FilterStatus) -> dict[str, Any]:
        return {"id": str(instance.id), "status_id": str(instance.status_id)}


class FilterV1Serializer(EntitySerializer):
    """The entity "V1::Filter": one keyword of a filter, under the keyword's id. Needs `filter` loaded."""

    def to_representation(self, instance: FilterKeyword) -> dict[str, Any]:
        parent = instance.filter
        return {
            "id": str(instance.id),
            "phrase": instance.keyword,
            "context": parent.context,
            "whole_word": instance.whole_word,
            "expires_at": clock.iso_or_none(parent.expires_at),
            "irreversible": parent.action == FilterAction.HIDE,
        }
