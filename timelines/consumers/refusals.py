"""Refuses upgrades to a WebSocket, and keeps what clients do wrong out of the log of errors.

Uvicorn takes only an accepted or closed handshake for a complete one; of every upgrade that is answered with an HTTP
response (the ASGI extension "WebSocket Denial Response") it says that it was left without an answer. And it logs each
message of a client that is no UTF-8 with a traceback.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

import orjson

from timelines.policies.streams import StreamError

_LOGGER: Final = "uvicorn.error"
_COMPLAINT: Final = "ASGI callable returned without completing handshake."
_NO_TEXT: Final = "Invalid UTF-8 sequence received from client."
# RFC 6455 section 7.4.1.
POLICY_VIOLATION: Final = 1008
_refused: ContextVar[bool] = ContextVar("refused", default=False)


async def refuse(scope: Mapping[str, Any], send: Callable[[Any], Awaitable[None]], error: StreamError) -> None:
    """Answer an upgrade with the error: its status, and its text as JSON and in the header `X-Error-Message`.

    A server that cannot answer so closes the socket.
    """
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    headers = [
        (b"content-type", b"application/json; charset=utf-8"),
        (b"x-error-message", error.text.encode()),
        (b"connection", b"close"),
        *retry_after(error),
    ]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    _refused.set(True)
    await send({"type": "websocket.http.response.body", "body": orjson.dumps({"error": error.text})})


def retry_after(error: StreamError) -> list[tuple[bytes, bytes]]:
    """The header `Retry-After` of a refusal that is our fault (503), in seconds; none of any other."""
    return [(b"retry-after", b"5")] if error.status == 503 else []


class _RefusalFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.msg != _NO_TEXT and not (_refused.get() and record.msg == _COMPLAINT)


_FILTER: Final = _RefusalFilter()


def keep_refusals_quiet() -> None:
    """Leave these complaints out of the log, the first where it is wrong alone; calling it twice is no harm."""
    logging.getLogger(_LOGGER).addFilter(_FILTER)
