"""Writes the files of an archive so that a process may stop at any byte of them.

An archive is a tar in members of gzip (RFC 1952 section 2.2: any number of them is one file), one member for each step; a
document that will stand in it grows beside it until it is whole. How much of each is good is known to the caller: what a
step that was stopped has left behind that is cut off.
"""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.core.files.storage import default_storage

from social.kernel import clock
from social.kernel.errors import Unavailable

ARCHIVE: Final = "archive.tar.gz"
_END: Final = bytes(tarfile.RECORDSIZE)
_LEVEL: Final = 6
# Compressed already: zlib would look for what is not there.
_LEVEL_OF_MEDIA: Final = 1


def folder_of(archive_id: int) -> Path:
    """The folder of an archive's files: not among those that are served to everybody."""
    return Path(settings.PRIVATE_ROOT) / "archives" / str(archive_id)


def remove_folder(archive_id: int) -> None:
    """Delete the files of an archive; none is no error."""
    shutil.rmtree(folder_of(archive_id), ignore_errors=True)


class FilesMissing(Exception):
    """Raised when a part of an archive is not where it was written: removed, or on another machine."""


class ArchiveWriter:
    """Writer of what a step adds. `files` are bytes and things of each file: as they were, then with what was added."""

    def __init__(self, folder: Path, files: dict[str, list[int]]) -> None:
        self.files = {name: list(size) for name, size in files.items()}
        self._folder = folder
        self._open: dict[str, IO[bytes]] = {}
        self._tar: tarfile.TarFile | None = None
        self._stack = ExitStack()

    def items(self, name: str) -> int:
        """The things in a document so far."""
        return self.files.get(name, [0, 0])[1]

    def append(self, name: str, data: bytes, *, items: int = 0) -> None:
        """Add to the end of a document, which holds so many things more."""
        self._file(name).write(data)
        self._count(name, items)

    def add_document(self, name: str, data: bytes) -> None:
        """Put a small document into the archive."""
        self._add(name, io.BytesIO(data), len(data))

    def add_stored(self, name: str, path: str) -> None:
        """Put a stored file into the archive; one that is gone is left out."""
        try:
            with default_storage.open(path) as file:
                self._add(name, file, file.size, _LEVEL_OF_MEDIA)
        except FileNotFoundError:
            return

    def finish_document(self, name: str) -> None:
        """Put a document that has grown beside the archive into it."""
        size, _things = self.files.pop(name)
        path = self._folder / name
        if not path.exists() or path.stat().st_size < size:
            raise FilesMissing(name)
        with path.open("rb") as file:
            self._add(name, file, size)

    def finish(self) -> None:
        """End the archive: nothing can be added to it any more."""
        with gzip.GzipFile(fileobj=self._file(ARCHIVE), mode="wb", filename="", mtime=0) as member:
            member.write(_END)

    def close(self) -> None:
        """Have everything on the disk, and count its bytes."""
        self._stack.close()
        for name, file in self._open.items():
            file.flush()
            os.fsync(file.fileno())
            self.files[name][0] = file.tell()
            file.close()

    def _file(self, name: str) -> IO[bytes]:
        """A file, cut off where it was good, open at its end. Raises FilesMissing."""
        if name not in self._open:
            good = self.files.setdefault(name, [0, 0])[0]
            descriptor = os.open(self._folder / name, os.O_RDWR | os.O_CREAT, 0o600)
            file = os.fdopen(descriptor, "r+b")
            if os.fstat(descriptor).st_size < good:
                file.close()
                raise FilesMissing(name)
            file.truncate(good)
            file.seek(good)
            self._open[name] = file
        return self._open[name]

    def _add(self, name: str, file: IO[bytes], size: int, level: int = _LEVEL) -> None:
        if self._tar is None:
            target = self._file(ARCHIVE)
            member = gzip.GzipFile(fileobj=target, mode="wb", filename="", mtime=0, compresslevel=level)
            # Not closed: it would write the end of the archive.
            self._tar = tarfile.TarFile(fileobj=self._stack.enter_context(member), mode="w", format=tarfile.PAX_FORMAT)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, int(clock.now().timestamp()), 0o644
        self._tar.addfile(entry, file)
        self._count(ARCHIVE, 1)

    def _count(self, name: str, items: int) -> None:
        self.files[name][1] += items


@contextmanager
def locked(archive_id: int) -> Iterator[None]:
    """Locks the archive, whose folder is there: this process alone may write it. Raises Unavailable when another one
    does.
    """
    folder = folder_of(archive_id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".lock").open("wb") as guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Unavailable("another process writes this archive") from None
        yield


@contextmanager
def writing(archive_id: int, files: dict[str, list[int]]) -> Iterator[ArchiveWriter]:
    """A writer for one step, in `locked`."""
    writer = ArchiveWriter(folder_of(archive_id), files)
    try:
        yield writer
    finally:
        writer.close()
