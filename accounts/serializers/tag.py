"""The entity "Tag" (contract, entities)."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from accounts.models import Tag
from accounts.queries.tags import DayOfUse, TagView
from social.api.serializers import EntitySerializer
from social.kernel import links


class DayOfUseSerializer(EntitySerializer):
    """A day in the `history` of a hashtag or of a link that trends."""

    def to_representation(self, instance: DayOfUse) -> dict[str, str]:
        """The day as unix time, and both counts, in digits."""
        return {
            "day": str(int(datetime.combine(instance.day, time(), UTC).timestamp())),
            "accounts": str(instance.accounts),
            "uses": str(instance.uses),
        }


class TagSerializer(EntitySerializer):
    """Tag: a hashtag as a viewer sees it; one that nobody has used yet has an empty id. Context: `view`, a TagView."""

    def to_representation(self, instance: Tag) -> dict[str, Any]:
        """The entity; what the viewer has to do with it is shown to signed-in viewers."""
        view: TagView = self.context["view"]
        entity: dict[str, Any] = {
            "id": "" if instance.id is None else str(instance.id),
            "name": instance.display_name,
            "url": links.tag_url(instance.name),
            "history": DayOfUseSerializer(view.histories[instance.id], many=True).data,
        }
        if view.viewer_id is not None:
            entity |= {"following": instance.id in view.followed, "featuring": instance.id in view.featured}
        return entity


def present_tags(tags: list[Tag], view: TagView) -> Any:
    """The entities of these hashtags, in their order."""
    return TagSerializer(tags, many=True, context={"view": view}).data
