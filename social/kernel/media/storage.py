"""Knows where media files are kept: under names nobody can guess, through Django's storage, safe from a loss of power."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from social.kernel import links

_NAME_BYTES: Final = 16


class DurableStorage(FileSystemStorage):
    """Files of a folder that are whole or not there, and on the disk when `save` has answered."""

    def _save(self, name: str, content: Any) -> str:
        path = Path(self.path(name))
        made = _make_folder(path.parent)
        unfinished = path.with_name(f"{path.name}.part")
        try:
            with unfinished.open("xb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        # A name is safe once its folder is, and a new folder once the one it stands in is.
        for folder in (path.parent, *(folder.parent for folder in made)):
            _sync_folder(folder)
        return name


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder with those it stands in; the ones that were made."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
    return missing


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def store(data: bytes, *, folder: str, extension: str) -> str:
    """Keep `data` and answer its path, relative to the media root: `<folder>/ab/cd/<random>.<extension>`.

    The name holds 128 random bits, so that the address of a file is its only key; two levels of folders keep each of
    them small. Raises OSError when the disk is full or cannot be written, and leaves nothing behind then.
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
