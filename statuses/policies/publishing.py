"""Limits and defaults of local posts (contract, parameters section 3, behaviours sections 8 and 9)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Account, Tag
from accounts.policies.visibility import default_visibility
from social.kernel.errors import FieldError, Invalid, NotFound
from social.kernel.text.characters import counted_length
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.policies.visibility import (
    CHOICES,
    FOLLOWER_VISIBILITIES,
    LOCAL,
    allowed_visibility,
    is_reserved_for_posts,
    stored_visibility,
)

TEXT_LIMIT: Final = 500
# The counted length does not limit the stored text, because a grapheme cluster may contain any number of joiners, and a link
# counts as 23 characters. RAW_LIMIT limits the stored text, so that the HTML rendered from it fits into its column.
RAW_LIMIT: Final = 20_000
MEDIA_LIMIT: Final = 4
REBLOG_CHOICES: Final = FOLLOWER_VISIBILITIES
PLAIN_TEXT: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
CONTENT_TYPES: Final = (PLAIN_TEXT, MARKDOWN)
"""Formats in which the text of a post may be written: `text/markdown` is an extension of this server (contract, README)."""
DRAFTS_FROM: Final = datetime(3000, 1, 1, tzinfo=UTC)
"""A post scheduled for this time or later is a draft, which is never published, because clients keep drafts as posts scheduled
for the year 5000 or 9999.
"""
DRAFT_TIME: Final = datetime(9999, 1, 1, 12, tzinfo=UTC)
"""Time of drafts that are saved with the API for drafts; clients that keep drafts as scheduled posts recognise it."""
_SINGLE_MEDIA_TYPES: Final = (MediaType.AUDIO, MediaType.VIDEO)


def is_draft(scheduled_at: datetime) -> bool:
    """Tell whether a scheduled post with this time is a draft."""
    return scheduled_at >= DRAFTS_FROM


def check_text(text: str, spoiler_text: str, *, has_more: bool) -> None:
    """Raise Invalid for an empty post, or for a post with more than TEXT_LIMIT counted characters."""
    if not text.strip() and not has_more:
        raise Invalid.of([FieldError("text", "ERR_BLANK", _("can't be blank"), _("Text"))])
    if len(text) + len(spoiler_text) > RAW_LIMIT or counted_length(text, spoiler_text) > TEXT_LIMIT:
        raise Invalid.sentence(_("Text character limit of %(limit)d exceeded") % {"limit": TEXT_LIMIT})


def choose_visibility(
    author: Account, requested: str | None, user_default: str | None, *, choices: Sequence[str] = (*CHOICES, LOCAL)
) -> str:
    """Return the requested visibility, or else the user's default, or else private for a locked account and public for others.
    Public becomes unlisted for a limited author; LOCAL, if among `choices`, becomes public. Raises Invalid.
    """
    if requested is not None and requested not in choices:
        reserved = requested in CHOICES and is_reserved_for_posts(requested)
        message = _("is reserved") if reserved else _("is not included in the list")
        raise Invalid.of([FieldError("visibility", "ERR_INCLUSION", message, _("Visibility"))])
    visibility = stored_visibility(requested) or default_visibility(user_default, locked=author.locked)
    return allowed_visibility(visibility, limited=author.limited)


def choose_content_type(requested: str | None, otherwise: str = PLAIN_TEXT) -> str:
    """Return the requested content type, or `otherwise`. Raises Invalid for a type that is not offered, such as HTML."""
    content_type = requested.partition(";")[0].strip().lower() if requested else otherwise
    if content_type not in CONTENT_TYPES:
        message = _("is not included in the list")
        raise Invalid.of([FieldError("content_type", "ERR_INCLUSION", message, _("Content type"))])
    return content_type


def check_media_count(media_ids: Sequence[object]) -> None:
    """Raise Invalid for more files than a post may have."""
    if len(media_ids) > MEDIA_LIMIT:
        raise Invalid(
            ngettext("Cannot attach more than %(count)d file", "Cannot attach more than %(count)d files", MEDIA_LIMIT)
            % {"count": MEDIA_LIMIT}
        )


def missing_media(media_ids: Sequence[int | str]) -> Invalid:
    """Return the error for files that cannot be attached. The error does not say whether a file belongs to another account, is
    unknown, or is already attached.
    """
    ids = ", ".join(map(str, media_ids))
    return Invalid(_("Media %(ids)s not found or already attached to another post") % {"ids": ids})


def missing_parent() -> NotFound:
    """Return the error for a reply to a post that its author may not read, or that was deleted."""
    return NotFound(_("The post you are trying to reply to does not appear to exist."))


def check_media(media: Sequence[MediaAttachment]) -> None:
    """Raise Invalid for files that cannot be attached to the same post, or are still being processed."""
    if len(media) > 1 and any(item.type in _SINGLE_MEDIA_TYPES for item in media):
        raise Invalid(_("Cannot attach a video to a post that already contains images"))
    if any(item.processing != Processing.COMPLETE for item in media):
        raise Invalid(_("Cannot attach files that have not finished processing. Try again in a moment!"))


def check_tags(tags: Iterable[Tag]) -> None:
    """Raise Invalid for hashtags that staff have disallowed in new local posts."""
    refused = [tag.display_name for tag in tags if not tag.usable]
    if refused:
        raise Invalid.sentence(
            ngettext(
                "Text contained a disallowed hashtag: %(names)s",
                "Text contained disallowed hashtags: %(names)s",
                len(refused),
            )
            % {"names": ", ".join(refused)}
        )
