"""Knows which files may be uploaded and what may be said about them (contract, parameters section 3 "Media")."""

from __future__ import annotations

import re
from typing import Final

from django.utils.translation import gettext as _

from social.kernel.errors import FieldError, Invalid
from social.kernel.media import images, sniff
from statuses.models.media import DESCRIPTION_LIMIT

IMAGE_SIZE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a picture as it is sent."""

SUPPORTED_TYPES: Final = images.ACCEPTED
"""`configuration.media_attachments.supported_mime_types` of the instance documents."""


_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


def check_file(data: bytes, said: str) -> None:
    """Raises Invalid for an empty file, a type that is not taken, or a file that is too large.

    The first bytes decide what a file is; `said`, the sender's word, only which of two errors is told.
    """
    found = sniff.media_type(data[: sniff.HEAD]) if data else None
    if data and found is None and said.partition(";")[0].strip().lower() in SUPPORTED_TYPES:
        raise _about_file("ERR_SPOOFED_MEDIA_TYPE", _("has contents that are not what they are reported to be"))
    if found not in SUPPORTED_TYPES:
        message, label = _("is invalid"), _("File")
        raise Invalid.of(
            [
                FieldError("file_content_type", "ERR_INVALID", message, _("File content type")),
                FieldError("file", "ERR_INVALID", message, label),
            ]
        )
    if len(data) >= IMAGE_SIZE_LIMIT:
        megabytes = IMAGE_SIZE_LIMIT // (1024 * 1024)
        raise _about_file("ERR_TOO_LONG", _("file size must be less than %(size)d MB") % {"size": megabytes})


def _about_file(code: str, message: str) -> Invalid:
    return Invalid.of([FieldError("file", code, message, _("File"))])


def check_description(description: str) -> None:
    """Raises Invalid for a text that is too long."""
    if len(description) > DESCRIPTION_LIMIT:
        message = _("is too long (maximum is %(count)s characters)") % {"count": DESCRIPTION_LIMIT}
        raise Invalid.of([FieldError("description", "ERR_TOO_LONG", message, _("Description"))])


def no_thumbnail_allowed() -> Invalid:
    """The error for a thumbnail on anything but audio and video (SEED-028)."""
    return Invalid.of([FieldError("thumbnail", "ERR_INVALID", _("must be blank"), _("Thumbnail"))])


def read_focus(written: str | None) -> dict[str, float | None] | None:
    """`x,y` as the `focus` of a `meta`; None when nothing was written.

    The range is not checked, what is no number is 0, and a missing `y` is null (contract, parameters section 3 "Media").
    """
    if not written or not written.strip():
        return None
    x, comma, y = written.partition(",")
    return {"x": _number(x), "y": _number(y) if comma else None}


def _number(written: str) -> float:
    match = _NUMBER.match(written)
    number = float(match[0]) if match else 0.0
    # PostgreSQL gives larger ones back as whole numbers of any length, which no answer can hold.
    return number if abs(number) < 2**53 else 0.0
