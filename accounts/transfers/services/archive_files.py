"""Writes the files of an archive so that a process may be stopped at any byte.

An archive is a tar file in gzip members, one for each step (RFC 1952 section 2.2). Documents are written to files next to the
archive until they are complete. The caller stores the valid size of each file; bytes beyond it, which an interrupted step has
written, are cut off.
"""

import fcntl
import gzip
import io
import os
import shutil
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
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
# Media files are already compressed; a higher compression level would only cost time.
_LEVEL_OF_MEDIA: Final = 1
_STRAY_SECONDS: Final = 86400
"""Time without a change after which a folder that no row needs is removed."""


def folder_of(archive_id: int) -> Path:
    """Return the folder of an archive's files, which is not served publicly."""
    return Path(settings.PRIVATE_ROOT) / "archives" / str(archive_id)


def remove_folder(archive_id: int) -> None:
    """Delete the files of an archive, if there are any."""
    shutil.rmtree(folder_of(archive_id), ignore_errors=True)


class FilesMissing(Exception):
    """Raised when a part of an archive is missing: it was removed, or written on another machine."""


class ArchiveWriter:
    """Writer for one step. `files` maps each file name to the file's size in bytes and its number of items; both grow as data
    is added.
    """

    def __init__(self, folder: Path, files: dict[str, list[int]]) -> None:
        self.files = {name: list(size) for name, size in files.items()}
        self._folder = folder
        self._open: dict[str, IO[bytes]] = {}
        self._tar: tarfile.TarFile | None = None
        self._stack = ExitStack()

    def items(self, name: str) -> int:
        return self.files.get(name, [0, 0])[1]

    def append(self, name: str, data: bytes, *, items: int = 0) -> None:
        self._file(name).write(data)
        self._count(name, items)

    def add_document(self, name: str, data: bytes) -> None:
        self._add(name, io.BytesIO(data), len(data))

    def add_stored(self, name: str, path: str) -> None:
        """Add a stored file to the archive; a missing one is left out."""
        try:
            with default_storage.open(path) as file:
                self._add(name, file, file.size, _LEVEL_OF_MEDIA)
        except FileNotFoundError:
            return

    def finish_document(self, name: str) -> None:
        """Add to the archive a document that was written to a file next to it. Raises FilesMissing."""
        size, _things = self.files.pop(name)
        path = self._folder / name
        if not path.exists() or path.stat().st_size < size:
            raise FilesMissing(name)
        with path.open("rb") as file:
            self._add(name, file, size)

    def finish(self) -> None:
        """Write the end of the archive; after that, nothing can be added to it."""
        with gzip.GzipFile(fileobj=self._file(ARCHIVE), mode="wb", filename="", mtime=0) as member:
            member.write(_END)

    def close(self) -> None:
        """Flush all files to the disk, and store their sizes in `files`."""
        self._stack.close()
        for name, file in self._open.items():
            file.flush()
            os.fsync(file.fileno())
            self.files[name][0] = file.tell()
            file.close()

    def _file(self, name: str) -> IO[bytes]:
        """Return a file, truncated to its valid size and open at its end. Raises FilesMissing when the file is shorter."""
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
            # The tar file is never closed, because closing it would write the end of the archive.
            self._tar = tarfile.TarFile(fileobj=self._stack.enter_context(member), mode="w", format=tarfile.PAX_FORMAT)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, int(clock.now().timestamp()), 0o644
        self._tar.addfile(entry, file)
        self._count(ARCHIVE, 1)

    def _count(self, name: str, items: int) -> None:
        self.files[name][1] += items


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Create and lock a folder, so that only this process works on it. Raises Unavailable if another process has the lock."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".lock").open("wb") as guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Unavailable("another process works on this archive") from None
        yield folder


@contextmanager
def writing(archive_id: int, files: dict[str, list[int]]) -> Iterator[ArchiveWriter]:
    """Open a writer for one step, within `locked`."""
    writer = ArchiveWriter(folder_of(archive_id), files)
    try:
        yield writer
    finally:
        writer.close()


def remove_strays(root: Path, used: Callable[[], Iterable[int]]) -> int:
    """Remove folders in `root` that are not `used`, not locked, and a day old; return how many."""
    oldest = time.time() - _STRAY_SECONDS
    # The folders are listed before the ids, so that folders that are created meanwhile do not count as strays.
    old = [folder for folder in root.glob("*") if folder.name.isdecimal() and _changed_at(folder) < oldest]
    used_ids = set(map(str, used())) if old else set()
    count = 0
    for folder in old:
        if folder.name in used_ids:
            continue
        try:
            with locked(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except Unavailable:
            continue
        count += 1
    return count


def _changed_at(folder: Path) -> float:
    """Return when an entry of the folder was last added or removed; the time now if it is gone."""
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:
        return time.time()
