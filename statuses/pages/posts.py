"""Knows what a page shows of a post: `statuses/post.html` with a `ShownPost` as `post`."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from social.kernel import links
from statuses.models import MediaAttachment, MediaType, Status


@dataclass(frozen=True)
class Picture:
    """A picture of ours, by paths: a page may be read by another name of this server."""

    url: str
    preview: str
    description: str | None
    width: int
    height: int


@dataclass(frozen=True)
class ShownPost:
    """A post as `statuses/post.html` wants it."""

    status: Status
    url: str
    content: SafeString
    pictures: list[Picture]


def shown(status: Status) -> ShownPost:
    """A post for a page: its account is loaded, and its `media` prefetched where there are several."""
    own = links.status_url(status.account.username, status.id) if status.local else ""
    pictures = [_picture(media) for media in status.media.all() if media.type == MediaType.IMAGE and media.preview]
    # Made by our own formatter when the post was written, or sanitised when it was received.
    return ShownPost(status, own or status.url or status.uri or "", mark_safe(status.content), pictures)  # noqa: S308


def _picture(media: MediaAttachment) -> Picture:
    small = media.meta.get("small") or {}
    return Picture(
        url=f"{settings.MEDIA_URL}{media.file}",
        preview=f"{settings.MEDIA_URL}{media.preview}",
        description=media.description,
        width=small.get("width") or 0,
        height=small.get("height") or 0,
    )
