"""How the application is called, and how what it answers is written on the wire (PEP 3333, RFC 9112)."""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

from social.api import later
from social.api.later import Wait, ask
from social.runtime.web.requests import FileWrapper

logger = logging.getLogger("social.web")
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

#: A file up to this many bytes is sent with its head, by the thread that made the answer.
SMALL_FILE = 64 * 1024
BUSY = "There was a temporary problem serving your request, please try again"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_date: tuple[int, str] = (0, "")


class Answer(NamedTuple):
    """What goes to the client: `data` at once, then the part of a file (descriptor, first byte, bytes).

    With `pending` the answer is not known yet, and `data` is what it is if the wait is over first.
    """

    data: bytes
    file: tuple[int, int, int] | None = None
    pending: Pending | None = None


class Pending:
    """An answer that the application has put off (`social.api.later`): asked for now and then, until `seconds` are over."""

    def __init__(self, wait: Wait, environ: dict[str, Any], head: Head, *, close: bool) -> None:
        self.seconds = wait.seconds
        self._poll = wait.poll
        self._environ = environ
        self._head = head
        self._close = close

    def ask(self) -> Answer | None:
        """The answer, if it is known by now; never raises."""
        try:
            response = ask(self._poll)
        except Exception:
            logger.exception("a request that was put off was not answered by the application")
            return Answer(refusal(500, "Internal Server Error"))
        if response is None:
            return None
        own = {name.lower() for name, _value in response.items()} | {"content-length"}
        headers = [(name, value) for name, value in self._head.headers if name.lower() not in own]
        status = f"{response.status_code} {response.reason_phrase}"
        head = Head(status, [*headers, *response.items()])
        return Answer(_encoded(self._environ, head, response.content, len(response.content), close=self._close))


class Head(NamedTuple):
    """A status line and headers, as the application gives them."""

    status: str
    headers: list[tuple[str, str]]


def refusal(status: int, text: str, retry_after: int | None = None) -> bytes:
    """An answer of the server itself; the connection ends with it."""
    body = orjson.dumps({"error": text})
    retry = f"Retry-After: {retry_after}\r\n" if retry_after is not None else ""
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nDate: {_now()}\r\n"
        "Content-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n"
        f"Content-Length: {len(body)}\r\n{retry}Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _now() -> str:
    global _date
    second = int(time.time())
    if _date[0] != second:
        _date = (second, formatdate(second, usegmt=True))
    return _date[1]


def call(application: Application, environ: dict[str, Any], *, close: bool) -> Answer:
    """Run the application and encode its answer; never raises: what the application lets pass is logged and a 500."""
    try:
        return _call(application, environ, close)
    except OSError as error:
        if error.errno in _NO_SPACE:
            logger.error("the disk is full: %s", error)
            return Answer(refusal(503, BUSY, 30))
        logger.exception("a request was not answered by the application")
    except Exception:
        logger.exception("a request was not answered by the application")
    return Answer(refusal(500, "Internal Server Error"))


def _call(application: Application, environ: dict[str, Any], close: bool) -> Answer:
    started: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], _error: object = None) -> None:
        started[:] = (status, headers)

    response = application(environ, start_response)
    try:
        file = response.take() if isinstance(response, FileWrapper) else None
        body = b"" if file is not None else b"".join(response)
    finally:
        if hasattr(response, "close"):
            response.close()
    head = Head(*started)
    waits = environ.get(later.KEY)
    if waits:
        data = _encoded(environ, head, body, len(body), close=close)
        return Answer(data, pending=Pending(waits[0], environ, head, close=close))
    if file is None:
        return Answer(_encoded(environ, head, body, len(body), close=close))
    descriptor, offset, size = file
    length = next((int(value) for name, value in head.headers if name == "Content-Length"), size)
    data = _encoded(environ, head, b"", size, close=close)
    size = min(size, length)
    if _is_bodyless(environ, head) or size <= SMALL_FILE:
        try:
            return Answer(data if _is_bodyless(environ, head) else data + os.pread(descriptor, size, offset))
        finally:
            os.close(descriptor)
    return Answer(data, (descriptor, offset, size))


def _is_bodyless(environ: dict[str, Any], head: Head) -> bool:
    return environ["REQUEST_METHOD"] == "HEAD" or head.status[:3] in ("204", "304")


def _encoded(environ: dict[str, Any], head: Head, body: bytes, length: int, *, close: bool) -> bytes:
    """The bytes of an answer. `length` is announced where the application does not say one."""
    lines = [f"HTTP/1.1 {head.status}\r\nDate: {_now()}\r\n"]
    announced = False
    for name, value in head.headers:
        announced = announced or name == "Content-Length"
        lines.append(f"{name}: {value}\r\n")
    if not announced and not head.status.startswith(("204", "304")):
        lines.append(f"Content-Length: {length}\r\n")
    if close:
        lines.append("Connection: close\r\n")
    elif environ["SERVER_PROTOCOL"] == "HTTP/1.0":
        lines.append("Connection: keep-alive\r\n")
    lines.append("\r\n")
    data = "".join(lines).encode("latin-1")
    return data if _is_bodyless(environ, head) else data + body
