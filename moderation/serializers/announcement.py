"""The entities "Announcement" and "Reaction" (contract, entities), the same for REST and streaming."""

from typing import Any

from accounts.serializers.account import CustomEmojiSerializer
from moderation.models import Announcement
from moderation.queries.announcements import Reaction, ShownAnnouncements
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from social.kernel.http.addresses import as_uri
from statuses.serializers.presenting import present_by_id


class ReactionSerializer(EntitySerializer):
    """Reaction; it has `me` only if there is a viewer, and image URLs only for custom emojis."""

    def to_representation(self, instance: Reaction) -> dict[str, Any]:
        entity: dict[str, Any] = {"name": instance.name, "count": instance.count}
        if instance.me is not None:
            entity["me"] = instance.me
        if instance.emoji is not None:
            emoji = CustomEmojiSerializer(instance.emoji).data
            entity |= {"url": emoji["url"], "static_url": emoji["static_url"]}
        return entity


class AnnouncementSerializer(EntitySerializer):
    """Announcement. Context: `shown`, a ShownAnnouncements, and `statuses`, entities by id."""

    def to_representation(self, instance: Announcement) -> dict[str, Any]:
        """Return the entity; it has `read` only if there is a viewer."""
        shown: ShownAnnouncements = self.context["shown"]
        statuses = self.context["statuses"]
        entity: dict[str, Any] = {
            "id": str(instance.id),
            "content": instance.content,
            "starts_at": clock.iso_or_none(instance.starts_at),
            "ends_at": clock.iso_or_none(instance.ends_at),
            "all_day": instance.all_day,
            "published_at": clock.iso_or_none(instance.published_at),
            "updated_at": clock.iso(instance.updated_at),
        }
        if shown.dismissed is not None:
            entity["read"] = instance.id in shown.dismissed
        accounts = [shown.accounts[number] for number in instance.mentioned_ids if number in shown.accounts]
        return entity | {
            "mentions": [
                {
                    "id": str(account.id),
                    "username": account.username,
                    "url": as_uri(account.page_url),
                    "acct": account.acct,
                }
                for account in accounts
            ],
            "statuses": [statuses[number] for number in instance.status_ids if number in statuses],
            "tags": [{"name": name, "url": links.tag_url(name)} for name in instance.tag_names],
            "emojis": CustomEmojiSerializer(shown.emojis.find(None, instance.text), many=True).data,
            "reactions": ReactionSerializer(shown.reactions.get(instance.id, []), many=True).data,
        }


def present_announcements(shown: ShownAnnouncements) -> list[dict[str, Any]]:
    """Return the entities, in the given order."""
    context = {"shown": shown, "statuses": present_by_id(shown.statuses)}
    entities: list[dict[str, Any]] = AnnouncementSerializer(shown.rows, many=True, context=context).data
    return entities
