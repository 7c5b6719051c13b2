"""Storage of media files: under names that cannot be guessed, through Django's storage, safe from a loss of power."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, cast

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, default_storage, storages
from django.db import transaction

from social.kernel import links
from social.kernel.descriptors import sync_folder

logger = logging.getLogger("social.media")

_NAME_BYTES: Final = 16


class DurableStorage(FileSystemStorage):
    """Storage in a folder, whose files are either complete or absent, and on the disk when `save` returns."""

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
        # A new file survives a loss of power only if its folder is synced, and a new folder only if its parent is synced.
        for folder in (path.parent, *(folder.parent for folder in made)):
            sync_folder(folder)
        return name

    def walk(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        for place, _folders, names in os.walk(self.path(folder)):
            for name in names:
                file = Path(place) / name
                with contextlib.suppress(FileNotFoundError):
                    found = file.stat()
                    written = datetime.fromtimestamp(found.st_mtime, UTC)
                    yield str(file.relative_to(self.location)), found.st_size, written


def _make_folder(folder: Path) -> list[Path]:
    missing = []  # the folders that are made here
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
    return missing


def store(content: bytes | IO[bytes], *, folder: str, extension: str) -> str:
    """Store bytes or a whole open file and return its path, relative to the media root:
    `<folder>/ab/cd/<random>.<extension>`.

    The name has 128 random bits, so that only those who know the address of a file can read it; two levels of folders keep each
    folder small. Raises OSError, and leaves nothing behind, when the disk is full or cannot be written.
    """
    name = secrets.token_hex(_NAME_BYTES)
    path = f"{folder}/{name[:2]}/{name[2:4]}/{name[4:]}.{extension}"
    return default_storage.save(path, ContentFile(content) if isinstance(content, bytes) else File(content, name=path))


def open_stored(path: str) -> File[bytes]:
    """Return a stored file, to be read in a `with`. Raises FileNotFoundError."""
    return default_storage.open(path)


def remove(*paths: str) -> None:
    """Delete files; missing files are ignored. Never raises: a file that cannot be deleted is logged."""
    for path in paths:
        if path:
            try:
                default_storage.delete(path)
            except FileNotFoundError:
                pass
            except Exception as error:
                logger.warning("%s could not be removed (%s: %s)", path, type(error).__name__, error)


def remove_after_commit(*paths: str) -> None:
    """Delete files as `remove` does, when the current transaction has been committed."""
    transaction.on_commit(lambda: remove(*paths))


def walk(folder: str) -> Iterator[tuple[str, int, datetime]]:
    """Yield every stored file below a folder: its path, its size in bytes, and the time at which it was written."""
    return cast("DurableStorage", default_storage).walk(folder)


def exists(path: str) -> bool:
    return default_storage.exists(path)


def is_local() -> bool:
    """Tell whether the files are in a folder, which several machines may share, and not in an object storage."""
    return isinstance(storages["default"], FileSystemStorage)


def url(path: str) -> str:
    address = f"{settings.MEDIA_URL}{path}"
    return links.web_url(address) if address.startswith("/") else address
