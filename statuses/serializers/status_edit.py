"""The entities "StatusEdit" and "StatusSource" (contract, entities)."""

from __future__ import annotations

from typing import Any

from accounts.queries.emojis import EmojiLookup
from accounts.serializers.emoji import CustomEmojiSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from statuses.policies.publishing import PLAIN
from statuses.queries.history import Version
from statuses.queries.rows import Row
from statuses.queries.sources import Source
from statuses.serializers.media import MediaAttachmentSerializer


class StatusEditSerializer(EntitySerializer):
    """StatusEdit: a version of a post.

    The context: the post's `row`, its `account` and `quote` as entities, `emojis`, which knows the emojis of all versions,
    and `sensitized`: whether this viewer is shown all files of the author as sensitive.
    """

    def to_representation(self, instance: Version) -> dict[str, Any]:
        """The entity."""
        row: Row = self.context["row"]
        emojis: EmojiLookup = self.context["emojis"]
        entity: dict[str, Any] = {
            "account": self.context["account"],
            "content": instance.content,
            "spoiler_text": instance.spoiler_text,
            "sensitive": instance.sensitive or self.context["sensitized"],
            "created_at": clock.iso(instance.created_at),
            "media_attachments": MediaAttachmentSerializer(instance.media, many=True).data,
            "emojis": CustomEmojiSerializer(
                emojis.find(row.domain, *instance.texts(local=row.local), *(instance.poll_options or ())), many=True
            ).data,
        }
        if instance.poll_options is not None:
            entity["poll"] = {"options": [{"title": title} for title in instance.poll_options]}
        if instance.is_quote and self.context["quote"] is not None:
            entity["quote"] = self.context["quote"]
        return entity


class StatusSourceSerializer(EntitySerializer):
    """StatusSource: a post as its author typed it. Of a post of another server only its HTML is known."""

    def to_representation(self, instance: Source) -> dict[str, Any]:
        """The entity; with `content_type`, an extension of ours, for a text that is not plain."""
        entity = {
            "id": str(instance.id),
            "text": instance.text or instance.content,
            "spoiler_text": instance.spoiler_text,
        }
        return entity if instance.content_type == PLAIN else entity | {"content_type": instance.content_type}
