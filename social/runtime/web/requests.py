"""A request between its first header and the thread that answers it: the WSGI environment and the body."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote_to_bytes

_SPECIAL = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}
_MOST_KNOWN_NAMES = 512
_names: dict[bytes, str] = {}


def environ_key(name: bytes) -> str:
    """The WSGI name of a header, "" for one that is not passed on.

    `X_Forwarded_For` and `X-Forwarded-For` would be one name: headers with an underscore are dropped, as proxies do.
    """
    key = _names.get(name)
    if key is None:
        low = name.lower()
        key = _SPECIAL.get(low)
        if key is None:
            key = "" if b"_" in low else "HTTP_" + low.decode("latin-1").upper().replace("-", "_")
        if len(_names) < _MOST_KNOWN_NAMES:
            _names[name] = key
    return key


def path_info(raw: bytes) -> str:
    """The path of a request as WSGI wants it: unquoted, its bytes as latin-1."""
    return (unquote_to_bytes(raw) if b"%" in raw else raw).decode("latin-1")


def origin_form(target: bytes) -> bytes:
    """`/path?query` of an absolute target (RFC 9112 section 3.2.2)."""
    if b"://" not in target:
        return target
    rest = target.partition(b"://")[2]
    cut = min((place for place in (rest.find(b"/"), rest.find(b"?")) if place >= 0), default=len(rest))
    found = rest[cut:]
    return found if found.startswith(b"/") else b"/" + found


def base_environ(server: tuple[str, int], peer: tuple[str, int]) -> dict[str, Any]:
    """What all requests of a connection have in common (PEP 3333)."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": peer[0],
        "REMOTE_PORT": str(peer[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }


class Body:
    """The bytes of a body while they arrive: in memory up to `in_memory`, beyond that in a file without a name."""

    __slots__ = ("_chunks", "_file", "_folder", "_in_memory", "pending", "received")

    def __init__(self, in_memory: int, folder: Path | None) -> None:
        self.received = 0
        self.pending = 0
        """Bytes that wait to be written to the file."""
        self._in_memory = in_memory
        self._folder = folder
        self._chunks: list[bytes] = []
        self._file: IO[bytes] | None = None

    @property
    def spilled(self) -> bool:
        """Whether there is more than fits into memory: then `flush` is due now and then, outside the event loop."""
        return self._file is not None or self.pending > self._in_memory

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.received += len(data)
        self.pending += len(data)
        self._chunks.append(data)

    def flush(self) -> None:
        """Write what waits to the file. Raises OSError when the disk is full."""
        chunks, self._chunks, self.pending = self._chunks, [], 0
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 (closed with the body)
        for chunk in chunks:
            view = memoryview(chunk)
            while view:
                view = view[self._file.write(view) :]

    def open(self) -> IO[bytes]:
        """The whole body from its beginning. Raises OSError as `flush` does."""
        if self._file is None:
            return io.BytesIO(b"".join(self._chunks))
        self.flush()
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Give memory and file back."""
        self._chunks = []
        if self._file is not None:
            self._file.close()


class FileWrapper:
    """`wsgi.file_wrapper`: a response whose bytes the event loop reads itself, from where the file stands now."""

    def __init__(self, file: Any, block_size: int = 8192) -> None:
        self.file = file
        self.block_size = block_size
        self.close: Callable[[], None] = file.close

    def __iter__(self) -> FileWrapper:
        return self

    def __next__(self) -> bytes:
        data: bytes = self.file.read(self.block_size)
        if not data:
            raise StopIteration
        return data

    def take(self) -> tuple[int, int, int] | None:
        """A descriptor of one's own, the first byte and the number of bytes; None when it is no file of the system."""
        try:
            descriptor = os.dup(self.file.fileno())
        except (AttributeError, OSError, ValueError):
            return None
        offset = self.file.tell()
        end = getattr(self.file, "end", None)
        return descriptor, offset, max(0, (os.fstat(descriptor).st_size if end is None else end) - offset)
