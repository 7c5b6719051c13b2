"""The entity "MediaAttachment" (contract, entities)."""

from __future__ import annotations

from typing import Any, Final

from accounts.policies.remote_copies import proxied_url
from social.api.serializers import EntitySerializer
from social.kernel.media import storage
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.policies.media import proxied_path

#: Of these a preview can be drawn where their server has none.
_DRAWN: Final = (MediaType.IMAGE, MediaType.GIFV, MediaType.VIDEO)


def file_url(media: MediaAttachment) -> str | None:
    """Where a file is; one of another server is shown by this one (contract, behaviours section 10)."""
    if media.file:
        return storage.url(media.file)
    return proxied_url(proxied_path(media.id), media.remote_url) if media.remote_url else None


def preview_url(media: MediaAttachment) -> str | None:
    """Where its small picture is, None if it has none."""
    if media.preview:
        return storage.url(media.preview)
    if media.remote_url and (media.preview_remote_url or media.type in _DRAWN):
        return proxied_url(proxied_path(media.id, small=True), media.remote_url)
    return None


class MediaAttachmentSerializer(EntitySerializer):
    """MediaAttachment: a file as clients see it; until it is processed it has no address, but it may have a preview."""

    def to_representation(self, instance: MediaAttachment) -> dict[str, Any]:
        """The entity."""
        return {
            "id": str(instance.id),
            "type": instance.type,
            "url": file_url(instance) if instance.processing == Processing.COMPLETE else None,
            "preview_url": preview_url(instance),
            "remote_url": instance.remote_url,
            "preview_remote_url": instance.preview_remote_url,
            "text_url": None,
            "meta": instance.meta or None,
            "description": instance.description,
            "blurhash": instance.blurhash,
        }
