"""Knows where media files are kept: under names nobody can guess, through Django's storage."""

from __future__ import annotations

import contextlib
import secrets
from typing import Final

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from social.kernel import links

_NAME_BYTES: Final = 16


def store(data: bytes, *, folder: str, extension: str) -> str:
    """Keep `data` and answer its path, relative to the media root: `<folder>/ab/cd/<random>.<extension>`.

    The name holds 128 random bits, so that the address of a file is its only key; two levels of folders keep each of
    them small. Raises OSError when the disk is full or cannot be written.
    """
    name = secrets.token_hex(_NAME_BYTES)
    path = f"{folder}/{name[:2]}/{name[2:4]}/{name[4:]}.{extension}"
    return default_storage.save(path, ContentFile(data))


def remove(*paths: str) -> None:
    """Delete files; what is gone already, or was never there, is no error."""
    for path in paths:
        if path:
            with contextlib.suppress(FileNotFoundError):
                default_storage.delete(path)


def url(path: str) -> str:
    """The absolute address of a stored file."""
    return links.web_url(f"{settings.MEDIA_URL}{path}")
