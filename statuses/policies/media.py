"""Limits on uploaded files and their descriptions (contract, parameters section 3 "Media")."""

import re
from collections.abc import Collection
from typing import Final

from django.utils.translation import gettext as _

from social.kernel.errors import FieldError, Invalid
from social.kernel.media import images, recordings, types
from statuses.models.attachments import DESCRIPTION_LIMIT, MediaAttachment, MediaType

IMAGE_SIZE_LIMIT: Final = 16 * 1024 * 1024
"""Maximum size in bytes of an uploaded picture, including animated GIFs."""
VIDEO_SIZE_LIMIT: Final = 99 * 1024 * 1024
"""Maximum size in bytes of an uploaded video or audio file."""

SUPPORTED_TYPES: Final = (*images.ACCEPTED, *recordings.ACCEPTED)
"""Value of `configuration.media_attachments.supported_mime_types` in the instance documents."""


_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


def check_file(head: bytes, size: int, declared_type: str) -> str:
    """Return the media type of a file, recognised by its first bytes, `head`. Raises Invalid for an empty or too large file, a
    type that is not accepted, and a picture declared as a video or the reverse (`declared_type` only selects the error).
    """
    labels = (_("File"), _("File content type"))
    found = _checked_type(head, declared_type, "file", labels, (*images.ACCEPTED, *recordings.READABLE))
    limit = IMAGE_SIZE_LIMIT if found in images.ACCEPTED else VIDEO_SIZE_LIMIT
    if size >= limit:
        megabytes = limit // (1024 * 1024)
        message = _("file size must be less than %(size)d MB") % {"size": megabytes}
        raise Invalid.of([FieldError("file", "ERR_TOO_LONG", message, _("File"))])
    return found


def check_thumbnail(head: bytes, size: int, declared_type: str) -> None:
    """Raise Invalid for a thumbnail that is not a picture of an accepted type, or is too large."""
    labels = (_("Thumbnail"), _("Thumbnail content type"))
    _checked_type(head, declared_type, "thumbnail", labels, images.ACCEPTED)
    if size >= IMAGE_SIZE_LIMIT:
        message = _("file size must be less than %(size)d MB") % {"size": IMAGE_SIZE_LIMIT // (1024 * 1024)}
        raise Invalid.of([FieldError("thumbnail", "ERR_TOO_LONG", message, labels[0])])


def _checked_type(
    head: bytes, declared_type: str, field: str, labels: tuple[str, str], accepted: Collection[str]
) -> str:
    found = types.media_type(head)
    claimed = declared_type.partition(";")[0].strip().lower()
    if head and claimed in SUPPORTED_TYPES and (found is None or _is_other(found, claimed)):
        message = _("has contents that are not what they are reported to be")
        raise Invalid.of([FieldError(field, "ERR_SPOOFED_MEDIA_TYPE", message, labels[0])])
    if found is None or found not in accepted:
        message = _("is invalid")
        raise Invalid.of(
            [
                FieldError(f"{field}_content_type", "ERR_INVALID", message, labels[1]),
                FieldError(field, "ERR_INVALID", message, labels[0]),
            ]
        )
    return found


def _is_other(found: str, claimed: str) -> bool:
    # Video and audio are not distinguished, because they share containers.
    accepted = found in images.ACCEPTED or found in recordings.READABLE
    return accepted and found.startswith("image/") != claimed.startswith("image/")


def check_description(description: str) -> None:
    """Raise Invalid for a description that is too long."""
    if len(description) > DESCRIPTION_LIMIT:
        message = _("is too long (maximum is %(count)s characters)") % {"count": DESCRIPTION_LIMIT}
        raise Invalid.of([FieldError("description", "ERR_TOO_LONG", message, _("Description"))])


def may_have_thumbnail(media: MediaAttachment) -> bool:
    """Tell whether a file may have a thumbnail: a video with sound or an audio file (SEED-028)."""
    return media.type in (MediaType.AUDIO, MediaType.VIDEO)


def no_thumbnail_allowed() -> Invalid:
    """Return the error for a thumbnail on a file that is neither audio nor video (SEED-028)."""
    return Invalid.of([FieldError("thumbnail", "ERR_INVALID", _("must be blank"), _("Thumbnail"))])


def read_focus(text: str | None) -> dict[str, float | None] | None:
    """Parse `x,y` as the `focus` of a `meta`; None when nothing was sent. The range is not checked, a value that is not a
    number becomes 0, and a missing `y` is null (contract, parameters section 3 "Media").
    """
    if not text or not text.strip():
        return None
    x, comma, y = text.partition(",")
    return {"x": _number(x), "y": _number(y) if comma else None}


def _number(text: str) -> float:
    match = _NUMBER.match(text)
    number = float(match[0]) if match else 0.0
    # PostgreSQL returns larger numbers as integers of any length, which cannot be encoded in a response.
    return number if abs(number) < 2**53 else 0.0


def proxied_path(media_id: int, *, small: bool = False) -> str:
    """Return the path, without a leading slash, under which this server proxies a remote file."""
    return f"media_proxy/{media_id}/{'small' if small else 'original'}"
