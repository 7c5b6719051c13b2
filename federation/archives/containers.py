"""Opens archives that may be hostile: zip, tar and tar.gz files, or a list of posts as a single file. No file is written under
a name from the archive. Links, devices and names that lead out of the archive are skipped. Limits apply to the unpacked bytes.
"""

import gzip
import hashlib
import io
import lzma
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol, cast

from accounts.transfers.past import (
    ARCHIVE_ENTRIES_LIMIT,
    DIRECTORY_LIMIT,
    FREE_SPACE,
    UNPACKED_LIMIT,
    Reason,
    UnreadableArchive,
)

_CHUNK: Final = 256 * 1024
# tarfile reads all headers of a member into memory, such as long names, attributes and the maps of sparse files.
_HEADER_LIMIT: Final = 1 << 20
_DAMAGED: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # raised by zipfile for an unknown compression method or encryption
    UnicodeError,
    struct.error,
    ValueError,
    RecursionError,  # raised by tarfile for a long chain of headers without a file
)


class Container(Protocol):
    """The files of an archive, keyed by name."""

    def names(self) -> Iterator[str]:
        """Yield the names of all files."""

    def size(self, name: str) -> int | None:
        """Return the size in bytes that the archive states for a file; None if there is no such file."""

    def open(self, name: str) -> IO[bytes]:
        """Open a file to read it from start to end. Raises KeyError if there is no such file."""


@contextmanager
def opened(path: Path, folder: Path, *, limit: int = UNPACKED_LIMIT) -> Iterator[Container]:
    """Open an archive; a tar file is first unpacked into `folder`, unless it has been unpacked there already. At most `limit`
    bytes are unpacked, and FREE_SPACE is left on the disk. UnreadableArchive may also be raised inside the `with` block.
    """
    try:
        alone = _name_of_document(path)
        if alone is not None:
            yield _SingleFile(path, alone)
        elif zipfile.is_zipfile(path):
            with _ZipStream(io.FileIO(path)) as stream, zipfile.ZipFile(stream) as file:
                yield _Zip(file)
        else:
            yield _Unpacked(path, folder, limit)
    except _DAMAGED as error:
        raise UnreadableArchive(Reason.NO_ARCHIVE) from error


def _name_of_document(path: Path) -> str | None:
    """Return the name that a JSON document would have in an archive; None if the file is not a JSON document."""
    with path.open("rb") as file:
        start = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"{": "outbox.json", b"[": "notes.json"}.get(start)


class _SingleFile:
    def __init__(self, path: Path, name: str) -> None:
        self._place, self._name = path, name

    def names(self) -> Iterator[str]:
        yield self._name

    def size(self, name: str) -> int | None:
        return self._place.stat().st_size if name == self._name else None

    def open(self, name: str) -> IO[bytes]:
        if name != self._name:
            raise KeyError(name)
        return self._place.open("rb")


class _ZipStream(io.BufferedReader):
    """A zip file that raises UnreadableArchive if its central directory is too large. The check runs while zipfile reads the
    directory: a separate check might find another directory, and the number of entries that the archive states may be wrong.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > DIRECTORY_LIMIT:
            raise UnreadableArchive(Reason.TOO_MANY)
        data = super().read(size)
        if data.count(b"PK\1\2") > ARCHIVE_ENTRIES_LIMIT:
            raise UnreadableArchive(Reason.TOO_MANY)
        return data


class _SizeLimited(io.RawIOBase):
    """A stream that limits how many bytes are read: UNPACKED_LIMIT in total, and `piece` between two calls of `renew`. All
    streams that share the list `count` count towards the same total.
    """

    def __init__(self, file: IO[bytes], count: list[int], piece: int = UNPACKED_LIMIT) -> None:
        self._file, self._read, self._piece, self._left = file, count, piece, piece

    def renew(self) -> None:
        self._left = self._piece

    def read(self, size: int = -1, /) -> bytes:
        self._left -= size
        if size < 0 or self._left < 0:
            raise UnreadableArchive(Reason.TOO_LARGE)
        return self._take(size)

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        self._read[0] += len(data)
        if self._read[0] > UNPACKED_LIMIT:
            raise UnreadableArchive(Reason.TOO_LARGE)
        return data

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET, /) -> int:
        """Seek forward by reading. The skipped bytes count towards the total but not towards `piece`."""
        ahead = place - self._file.tell()
        if whence != io.SEEK_SET or ahead < 0:
            raise ValueError("only forward")
        while ahead > 0:
            data = self._take(min(ahead, _CHUNK))
            if not data:
                break
            ahead -= len(data)
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class _Zip:
    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._count = [0]
        self._files: dict[str, zipfile.ZipInfo] = {}
        for entry in file.infolist():
            if entry.flag_bits & 1:
                raise UnreadableArchive(Reason.LOCKED)
            name = _safe_name(entry.filename)
            # On Unix, zip programs store the file's mode in the upper half of the attributes. Links are skipped.
            kind = entry.external_attr >> 28
            if name is not None and not entry.is_dir() and kind in (0, 8):
                self._files.setdefault(name, entry)

    def names(self) -> Iterator[str]:
        yield from self._files

    def size(self, name: str) -> int | None:
        entry = self._files.get(name)
        return entry.file_size if entry is not None else None

    def open(self, name: str) -> IO[bytes]:
        return io.BufferedReader(_Readable(_SizeLimited(self._file.open(self._files[name]), self._count)), _CHUNK)


class _Readable(io.RawIOBase):
    """Adapts a `_SizeLimited` to `io.BufferedReader`."""

    def __init__(self, file: _SizeLimited) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader passes
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Unpacked:
    """A tar file that is unpacked into a folder. The name of each file in the folder is the digest of the file's name in the
    archive.
    """

    def __init__(self, path: Path, folder: Path, limit: int) -> None:
        self._limit = limit
        self._folder = folder / "unpacked"
        self._names = folder / "names"
        if not self._names.exists():
            self._unpack(path)

    def names(self) -> Iterator[str]:
        with self._names.open(encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                yield line.rstrip("\n")

    def size(self, name: str) -> int | None:
        path = self._path(name)
        return path.stat().st_size if path.exists() else None

    def open(self, name: str) -> IO[bytes]:
        try:
            return self._path(name).open("rb")
        except FileNotFoundError:
            raise KeyError(name) from None

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        return self._folder / digest[:2] / digest

    def _unpack(self, path: Path) -> None:
        unfinished = self._names.with_suffix(".part")
        count = 0
        with path.open("rb") as raw, unfinished.open("w", encoding="utf-8", errors="surrogateescape") as listed:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            tar_bytes = cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if packed else raw)
            stream = _SizeLimited(tar_bytes, [0], piece=_HEADER_LIMIT)
            with tarfile.TarFile(fileobj=stream, mode="r") as tar:
                while (member := tar.next()) is not None:
                    stream.renew()
                    # TarFile keeps all members in memory. The members are discarded here, because no member is read twice.
                    tar.members, tar.pax_headers = [], {}  # type: ignore[attr-defined]  # not in its stubs
                    count += 1
                    if count > ARCHIVE_ENTRIES_LIMIT:
                        raise UnreadableArchive(Reason.TOO_MANY)
                    name = _safe_name(member.name) if member.isreg() else None
                    if name is None:
                        continue
                    target = self._path(name)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source = tar.extractfile(member)
                    assert source is not None  # `name` is None unless `member` is a regular file
                    with target.open("wb") as file:
                        while data := source.read(_CHUNK):
                            stream.renew()
                            self._check_room(target.parent, len(data))
                            file.write(data)
                    listed.write(f"{name}\n")
        unfinished.rename(self._names)

    def _check_room(self, folder: Path, size: int) -> None:
        self._limit -= size
        if self._limit < 0:
            raise UnreadableArchive(Reason.TOO_LARGE)
        check_free_space(folder)


def check_free_space(folder: Path) -> None:
    """Raise UnreadableArchive if less than FREE_SPACE is left on the disk of a folder."""
    if shutil.disk_usage(folder).free < FREE_SPACE:
        raise UnreadableArchive(Reason.NO_SPACE)


def _safe_name(name: str) -> str | None:
    """Return the name of a file relative to the root of the archive; None for a name that leads out of the archive."""
    parts = name.replace("\\", "/").removeprefix("./").split("/")
    if len(name) > 1000 or any(part in ("", ".", "..") for part in parts) or not name.isprintable():
        return None
    return "/".join(parts)
