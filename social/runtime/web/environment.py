"""A request and its answer as WSGI has them (PEP 3333), and the refusals of what is no proper request."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from social.api.heads import refusal_of
from social.api.later import KEY, Wait
from social.runtime.web.limits import Limits

#: Bytes of an answer that are handed to a client at a time. A file of this size is read by the thread that opened it.
CHUNK = 64 * 1024
BUSY = "There was a temporary problem serving your request, please try again"
#: Texts of what is refused for its head.
REFUSALS = {400: "Bad Request", 431: "Request Header Fields Too Large", 501: "Not Implemented"}
_SPECIAL = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Headers = list[tuple[str, str]]


class File(NamedTuple):
    """A part of a file. The descriptor is the holder's to close."""

    descriptor: int
    offset: int
    size: int


class Answer(NamedTuple):
    """Answer to a client. With `wait` the application has put the answer off, and this is what it is otherwise."""

    status: int
    headers: Headers
    body: bytes
    file: File | None = None
    wait: Wait | None = None


class Refused(Exception):
    """A request that the application never sees: status, text, and seconds after which trying again is worth it."""

    def __init__(self, status: int, text: str, retry_after: int | None = None) -> None:
        super().__init__(text)
        body = orjson.dumps({"error": text})
        headers = [
            ("content-type", "application/json; charset=utf-8"),
            ("access-control-allow-origin", "*"),
            ("content-length", str(len(body))),
        ]
        if retry_after is not None:
            headers.append(("retry-after", str(retry_after)))
        self.answer = Answer(status, headers, body)


class FileWrapper:
    """`wsgi.file_wrapper`: a response whose bytes are read by the server, from where the file stands now."""

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

    def take(self) -> File | None:
        """The rest of it with a descriptor of its own; None when it is no file of the system."""
        try:
            descriptor = os.dup(self.file.fileno())
        except (AttributeError, OSError, ValueError):
            return None
        offset = self.file.tell()
        end = getattr(self.file, "end", None)
        return File(descriptor, offset, max(0, (os.fstat(descriptor).st_size if end is None else end) - offset))


def constants(server: tuple[str, int | None] | None, client: tuple[str, int] | None) -> dict[str, Any]:
    """Make what is the same in the WSGI environments of all requests of a connection."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": server[0] if server else "",
        "SERVER_PORT": str(server[1] if server else 0),
        "REMOTE_ADDR": client[0] if client else "",
        "REMOTE_PORT": str(client[1] if client else 0),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
        "wsgi.file_wrapper": FileWrapper,
    }


def environment(
    method: str, target: bytes, version: str, headers: Sequence[tuple[bytes, bytes]], limits: Limits
) -> dict[str, Any]:
    """Build the WSGI environment entries that the head of a request adds to `constants`. The names of `headers` are in
    lower case.

    Raises Refused for a head of no proper form (`social.api.heads`), httptools' error for a target that is no URL. Headers
    with an underscore are dropped, as proxies do: `X_Forwarded_For` and `X-Forwarded-For` would be one name.
    """
    status = refusal_of(target, version, headers, size_limit=limits.head, count_limit=limits.headers)
    if status is not None:
        raise Refused(status, REFUSALS[status])
    url = httptools.parse_url(target)
    path = url.path.decode("ascii")
    found: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1") if "%" in path else path,
        "QUERY_STRING": url.query.decode("latin-1") if url.query else "",
        "RAW_URI": target.decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{version}",
        KEY: [],
    }
    for name, value in headers:
        if b"_" in name:
            continue
        key = _SPECIAL.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        text = value.decode("latin-1")
        if key in found:
            text = f"{found[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        found[key] = text
    return found


def head(status: int, headers: Headers, more: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The lines of an answer before its body, with `more` headers of the server."""
    lines = [STATUS_LINE[status], *[b"%b: %b\r\n" % header for header in more]]
    lines += [f"{name}: {value}\r\n".encode("latin-1") for name, value in headers]
    return b"".join((*lines, b"\r\n"))


def call(application: Application, environ: dict[str, Any]) -> Answer:
    """Run the application. Raises whatever it lets pass."""
    started: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], _error: object = None) -> None:
        started[:] = status, headers

    response = application(environ, start_response)
    try:
        file = response.take() if isinstance(response, FileWrapper) else None
        body = b"" if file is not None else b"".join(response)
    finally:
        if hasattr(response, "close"):
            response.close()
    status, size = int(started[0][:3]), len(body) if file is None else file.size
    headers: Headers = started[1]
    has_body = environ["REQUEST_METHOD"] != "HEAD" and status not in (204, 304)
    if status in (204, 304):
        headers = [header for header in headers if header[0].lower() != "content-length"]
    elif not any(name.lower() == "content-length" for name, _value in headers):
        headers.append(("content-length", str(size)))
    if file is not None and (not has_body or size <= CHUNK):
        try:
            body = os.pread(file.descriptor, size, file.offset) if has_body else b""
        finally:
            os.close(file.descriptor)
        file = None
    waits = environ[KEY]
    return Answer(status, headers, body if has_body else b"", file, waits[0] if waits else None)
