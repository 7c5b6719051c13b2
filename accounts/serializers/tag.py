"""The Tag and FeaturedTag entities (contract, entities; the same shape at all endpoints: SEED-079)."""

from datetime import UTC, datetime, time
from typing import Any

from accounts.models import Account, FeaturedTag, Tag
from accounts.queries.tags import DayOfUse, TagView
from social.api.serializers import EntitySerializer
from social.kernel import links
from social.kernel.http.addresses import as_uri


class DayOfUseSerializer(EntitySerializer):
    """A day in the `history` of a hashtag or of a trending link."""

    def to_representation(self, instance: DayOfUse) -> dict[str, str]:
        """Return the day as Unix time, and both counts, all as strings of digits."""
        return {
            "day": str(int(datetime.combine(instance.day, time(), UTC).timestamp())),
            "accounts": str(instance.accounts),
            "uses": str(instance.uses),
        }


class TagSerializer(EntitySerializer):
    """Tag: a hashtag as a viewer sees it, with an empty id before its first use. Context: `view`, a TagView."""

    def to_representation(self, instance: Tag) -> dict[str, Any]:
        """Return the entity; the viewer's relation to the hashtag is shown only to signed-in viewers."""
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
    """Return the entities of these hashtags, in the given order."""
    return TagSerializer(tags, many=True, context={"view": view}).data


class FeaturedTagSerializer(EntitySerializer):
    """FeaturedTag: a hashtag on a profile; `tag` must be loaded. Context: `account`, the owner of the profile."""

    def to_representation(self, instance: FeaturedTag) -> dict[str, Any]:
        account: Account = self.context["account"]
        last = instance.last_status_at if instance.statuses_count else None
        return {
            "id": str(instance.id),
            "name": instance.name,
            "url": links.tagged_url(as_uri(account.page_url), instance.tag.name),
            "statuses_count": str(instance.statuses_count),
            "last_status_at": None if last is None else last.date().isoformat(),
        }
