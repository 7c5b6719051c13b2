"""A request and its answer as WSGI has them (PEP 3333), and the refusals of what is no proper request (RFC 9112)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import orjson

from social.api.later import KEY, Wait
from social.runtime.web.limits import Limits

#: Bytes of an answer that are handed to a client at a time. A file of this size is read by the thread that opened it.
CHUNK = 64 * 1024
BUSY = "There was a temporary problem serving your request, please try again"
_SPECIAL = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Headers = list[tuple[bytes, bytes]]


class File(NamedTuple):
    """A part of a file. The descriptor is the holder's to close."""

    descriptor: int
    offset: int
    size: int


class Answer(NamedTuple):
    """What a client is sent. With `wait` the application has put the answer off, and this is what it is otherwise."""

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
        headers = {
            "content-type": "application/json; charset=utf-8",
            "access-control-allow-origin": "*",
            "content-length": str(len(body)),
            "connection": "close",
        }
        if retry_after is not None:
            headers["retry-after"] = str(retry_after)
        self.answer = Answer(status, encoded(headers.items()), body)


def encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    """Headers as bytes."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


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


def environment(scope: Any, target: bytes, limits: Limits) -> dict[str, Any]:
    """The WSGI environment of a request, without its body.

    Two servers that read a request differently can be used against each other: raises Refused for everything about which
    RFC 9112 leaves no doubt. Headers with an underscore are dropped, as proxies do: `X_Forwarded_For` and `X-Forwarded-For`
    would be one name.
    """
    server, client, headers = scope["server"] or ("", 0), scope["client"] or ("", 0), scope["headers"]
    version = scope["http_version"]
    found = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "RAW_URI": target.decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{version}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
        "wsgi.file_wrapper": FileWrapper,
        KEY: [],
    }
    size = len(target)
    for name, value in headers:
        size += len(name) + len(value)
        if b"_" in name:
            continue
        key = _SPECIAL.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        text = value.decode("latin-1")
        if key in found:
            if key == "HTTP_HOST":
                raise Refused(400, "Bad Request")
            text = f"{found[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        found[key] = text
    if size > limits.head or len(headers) > limits.headers:
        raise Refused(431, "Request Header Fields Too Large")
    if version not in ("1.1", "1.0") or (version == "1.1" and "HTTP_HOST" not in found):
        raise Refused(400, "Bad Request")
    coding = found.get("HTTP_TRANSFER_ENCODING")
    if coding is not None and (version == "1.0" or coding.lower() != "chunked"):
        raise Refused(400, "Bad Request") if version == "1.0" else Refused(501, "Not Implemented")
    return found


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
    status, headers, size = int(started[0][:3]), encoded(started[1]), len(body) if file is None else file.size
    has_body = environ["REQUEST_METHOD"] != "HEAD" and status not in (204, 304)
    announced = next((int(value) for name, value in headers if name.lower() == b"content-length"), None)
    if status in (204, 304):
        headers = [header for header in headers if header[0].lower() != b"content-length"]
    elif announced is None:
        headers.append((b"content-length", str(size).encode()))
    if file is not None and (not has_body or size <= CHUNK):
        try:
            body = os.pread(file.descriptor, size, file.offset) if has_body else b""
        finally:
            os.close(file.descriptor)
        file = None
    waits = environ[KEY]
    return Answer(status, headers, body if has_body else b"", file, waits[0] if waits else None)
