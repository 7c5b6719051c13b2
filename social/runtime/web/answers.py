"""Knows how the application is called, and how what it answers is written on the wire (PEP 3333, RFC 9112)."""

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

from social.runtime.web.requests import FileWrapper

logger = logging.getLogger("social.web")
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

#: A file up to this many bytes is sent with its head, by the thread that made the answer.
SMALL_FILE = 64 * 1024
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_date: tuple[int, str] = (0, "")


class Answer(NamedTuple):
    """What goes to the client: `data` at once, then the part of a file (descriptor, first byte, bytes)."""

    data: bytes
    file: tuple[int, int, int] | None = None


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
            return Answer(refusal(503, "There was a temporary problem serving your request, please try again", 30))
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
    status, headers = started
    head = [f"HTTP/1.1 {status}\r\nDate: {_now()}\r\n"]
    length: int | None = None
    for name, value in headers:
        if name == "Content-Length":
            length = int(value)
        head.append(f"{name}: {value}\r\n")
    bodyless = environ["REQUEST_METHOD"] == "HEAD" or status[:3] in ("204", "304")
    if length is None and not status.startswith(("204", "304")):
        length = file[2] if file is not None else len(body)
        head.append(f"Content-Length: {length}\r\n")
    if close:
        head.append("Connection: close\r\n")
    elif environ["SERVER_PROTOCOL"] == "HTTP/1.0":
        head.append("Connection: keep-alive\r\n")
    head.append("\r\n")
    data = "".join(head).encode("latin-1")
    if file is None:
        return Answer(data if bodyless else data + body)
    descriptor, offset, size = file
    size = min(size, length or 0)
    if bodyless or size <= SMALL_FILE:
        try:
            return Answer(data if bodyless else data + os.pread(descriptor, size, offset))
        finally:
            os.close(descriptor)
    return Answer(data, (descriptor, offset, size))
