"""Knows which files may be uploaded and what may be said about them (contract, parameters section 3 "Media")."""

from __future__ import annotations

import math
from typing import Final

from django.utils.translation import gettext as _

from social.kernel.errors import FieldError, Invalid
from social.kernel.media import images, sniff
from statuses.models.media import DESCRIPTION_LIMIT

IMAGE_SIZE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a picture as it is sent."""

SUPPORTED_TYPES: Final = images.ACCEPTED
"""`configuration.media_attachments.supported_mime_types` of the instance documents."""


def check_file(data: bytes, said: str) -> None:
    """Raises Invalid for an empty file, a type that is not taken, or a file that is too large.

    The first bytes decide what a file is; `said`, the sender's word, only which of two errors is told.
    """
    if not data:
        raise _about_file("ERR_BLANK", _("can't be blank"))
    found = sniff.media_type(data[: sniff.HEAD])
    if found is None and said.partition(";")[0].strip().lower() in SUPPORTED_TYPES:
        raise images.Unidentified
    if found not in SUPPORTED_TYPES:
        raise _about_file("ERR_INVALID", _("content type is invalid"))
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


def read_focus(written: str | None) -> dict[str, float] | None:
    """`x,y` as the `focus` of a `meta`, each kept within -1 to 1; None for what is no such pair."""
    x, comma, y = (written or "").partition(",")
    if not comma:
        return None
    try:
        point = float(x), float(y)
    except ValueError:
        return None
    if not all(map(math.isfinite, point)):
        return None
    return dict(zip(("x", "y"), (max(-1.0, min(1.0, part)) for part in point), strict=True))
