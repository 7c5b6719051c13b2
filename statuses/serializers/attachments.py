"""The entities MediaAttachment and Poll (contract, entities)."""

from collections.abc import Sequence
from typing import Any, Final

from accounts.copies.policies import proxied_url
from accounts.emojis.queries import EmojiLookup
from accounts.serializers.account import CustomEmojiSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from social.kernel.http.addresses import as_uri
from social.kernel.media import scanning, storage
from statuses.models import MediaAttachment, MediaType, Poll, Processing
from statuses.policies.media import proxied_path
from statuses.policies.polls import has_ended

#: Clients refuse a page with a larger number, and other servers may state any (tuskyapp/Tusky#2802).
_VOTES_LIMIT: Final = 2**31 - 1
#: Types of files for which this server can generate a preview, if the file's own server has no preview.
_PICTURED_TYPES: Final = (MediaType.IMAGE, MediaType.GIFV, MediaType.VIDEO)


def file_url(media: MediaAttachment) -> str | None:
    """Return the address of a file; a remote file is proxied by this server (contract, behaviours section 10)."""
    if media.file:
        return storage.url(media.file)
    return proxied_url(proxied_path(media.id), media.remote_url) if media.remote_url else None


def preview_url(media: MediaAttachment) -> str | None:
    """Return the address of the file's preview; None if the file has no preview."""
    if media.preview:
        return storage.url(media.preview)
    if media.remote_url and (media.preview_remote_url or media.type in _PICTURED_TYPES):
        return proxied_url(proxied_path(media.id, small=True), media.remote_url)
    return None


def _may_be_shown(media: MediaAttachment) -> bool:
    # A preview may be shown before the file is completely processed, but not before the file has been scanned.
    return media.processing == Processing.COMPLETE or not scanning.is_on()


def _shown_meta(meta: dict[str, Any]) -> dict[str, Any]:
    # Mastodon for iOS and Fedistar read this member as an integer, and refuse the whole page if it is 29.97.
    return meta | {"fps": round(meta["fps"])} if "fps" in meta else meta


class MediaAttachmentSerializer(EntitySerializer):
    """MediaAttachment: a file; it has no address until it is processed, but it may have a preview."""

    def to_representation(self, instance: MediaAttachment) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "type": instance.type,
            "url": file_url(instance) if instance.processing == Processing.COMPLETE else None,
            "preview_url": preview_url(instance) if _may_be_shown(instance) else None,
            "remote_url": as_uri(instance.remote_url) if instance.remote_url else None,
            "preview_remote_url": as_uri(instance.preview_remote_url) if instance.preview_remote_url else None,
            "text_url": None,
            "meta": _shown_meta(instance.meta) or None,
            "description": instance.description,
            "blurhash": instance.blurhash,
        }


class PollSerializer(EntitySerializer):
    """A poll as a viewer sees it. The context has `viewer_id` (None for an anonymous viewer), `author_id`, `own_votes` (indexes
    of the viewer's options), `domain` (of the author's server), and `emojis` to look up emojis in the options.
    """

    def to_representation(self, instance: Poll) -> dict[str, Any]:
        viewer_id: int | None = self.context["viewer_id"]
        own_votes: Sequence[int] = self.context["own_votes"]
        emojis: EmojiLookup = self.context["emojis"]
        ended = has_ended(instance.expires_at, clock.now())
        hidden = instance.hide_totals and not ended
        entity: dict[str, Any] = {
            "id": str(instance.id),
            "expires_at": clock.iso_or_none(instance.expires_at),
            "expired": ended,
            "multiple": instance.multiple,
            "votes_count": min(sum(instance.tallies), _VOTES_LIMIT),
            "voters_count": instance.voters_count,
            "options": [
                {"title": title, "votes_count": None if hidden else count}
                for title, count in zip(instance.options, instance.tallies, strict=True)
            ],
            "emojis": CustomEmojiSerializer(emojis.find(self.context["domain"], *instance.options), many=True).data,
        }
        if viewer_id is not None:
            entity["voted"] = bool(own_votes) or viewer_id == self.context["author_id"]
            entity["own_votes"] = list(own_votes)
        return entity
