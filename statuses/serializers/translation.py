"""The entity Translation (contract, entities)."""

from __future__ import annotations

from typing import Any

from social.api.serializers import EntitySerializer
from statuses.policies.posts import Post, PostBody
from statuses.policies.translations import Translation


class TranslationSerializer(EntitySerializer):
    """Translation of a post."""

    def to_representation(self, instance: tuple[Post, PostBody, Translation]) -> dict[str, Any]:
        post, body, translation = instance
        options = [{"title": title} for title in translation.options]
        return {
            "content": translation.content,
            "spoiler_text": translation.spoiler_text,
            "language": translation.language,
            "detected_source_language": translation.detected_source_language,
            "provider": translation.provider,
            "poll": {"id": str(post.poll_id), "options": options} if post.poll_id is not None else None,
            "media_attachments": [
                {"id": str(media.id), "description": translation.descriptions.get(str(media.id), "")}
                for media in body.media
            ],
        }
