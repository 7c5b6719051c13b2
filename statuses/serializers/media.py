"""Knows the entity "MediaAttachment" (contract, entities)."""

from __future__ import annotations

from typing import Any

from social.kernel.media import storage
from statuses.models import MediaAttachment, Processing


def media_entity(media: MediaAttachment) -> dict[str, Any]:
    """A file as clients see it; without an address until it is processed."""
    ready = media.processing == Processing.COMPLETE
    url = storage.url(media.file) if media.file else media.remote_url
    preview = storage.url(media.preview) if media.preview else media.preview_remote_url
    return {
        "id": str(media.id),
        "type": media.type,
        "url": url if ready else None,
        "preview_url": preview if ready else None,
        "remote_url": media.remote_url,
        "preview_remote_url": media.preview_remote_url,
        "text_url": None,
        "meta": media.meta or None,
        "description": media.description,
        "blurhash": media.blurhash,
    }
