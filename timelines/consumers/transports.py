"""Uvicorn's protocols with an end for clients that do not read, or send no request, and a direct way to the network.

ASGI knows one way to write, a coroutine per message and client, which frames and encodes anew what thousands are sent alike;
and it knows no way to end a connection whose client takes nothing, not even the close. Consumers find both in the extension
EXTENSION of their scope. Without it, under another server, they do without.
"""

from __future__ import annotations

import asyncio
from asyncio.transports import BaseTransport
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from social.api.heads import refusal_of
from social.kernel.descriptors import limit_send_buffer
from timelines.consumers.allowances import Allowances
from timelines.consumers.connection_request import POLICY_VIOLATION

EXTENSION: Final = "social.transport"

#: Seconds for a client to read what still waits for it once its connection is to end.
ABORT_SECONDS = 5.0

# Security row 70: of each socket, more than the commands that it may send (`registry`), and its answers to pings.
_FRAMES_AT_ONCE: Final = 600
_FRAMES_A_SECOND: Final = 12.0
_PIECE_BYTES: Final = 4096


def refusal(status: int) -> bytes:
    """Make a whole answer that refuses a request in JSON."""
    reason = HTTPStatus(status).phrase
    body = orjson.dumps({"error": reason})
    return (
        b"HTTP/1.1 %d %b\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
    ) % (status, reason.encode(), len(body), body)


@dataclass(frozen=True, slots=True)
class Direct:
    """Operations that a connection offers beside ASGI. Both belong to the event loop.

    `write` sends a whole frame at once, or returns False when it cannot: the client is behind, or the connection is ending.
    `abort` ends the connection in ABORT_SECONDS at the latest, whether or not the client reads.
    """

    abort: Callable[[], None]
    write: Callable[[bytes], bool] | None = None

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> Direct | None:
        """Return what the server offers; None when it is another one."""
        found = (scope.get("extensions") or {}).get(EXTENSION)
        return found if isinstance(found, cls) else None


def offer(scope: MutableMapping[str, Any], direct: Direct) -> None:
    """Put it into the scope of a connection."""
    scope["extensions"] = {**(scope.get("extensions") or {}), EXTENSION: direct}


def abort_soon(loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
    """End a connection in ABORT_SECONDS; closing waits for the client without end when something is left to be sent."""
    loop.call_later(ABORT_SECONDS, transport.abort)


class DirectWebSocket(WebSocketsSansIOProtocol):
    """Offers EXTENSION, and drops who answers no ping even if nothing can be written to it, and who sends too many frames."""

    _ended = False
    """True once too many frames have come."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Limit what the system keeps for the client."""
        super().connection_made(transport)
        limit_send_buffer(transport)
        self._allowance = Allowances(_FRAMES_AT_ONCE, _FRAMES_A_SECOND)

    def data_received(self, data: bytes) -> None:
        """Refuse a request with a line or a number of headers beyond what `websockets` takes.

        Uvicorn hands the request over whole, so that one which has not begun a handshake never will; it would keep the
        connection without an answer and without an end. What follows is read in pieces: the parser takes all that it is given.
        """
        if self.handshake_initiated:
            for start in range(0, len(data), _PIECE_BYTES):
                if not self._ended and not self.transport.is_closing():
                    super().data_received(data[start : start + _PIECE_BYTES])
            return
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            self.handshake_complete = True
            self.transport.write(refusal(431))
            self.transport.close()

    def handle_events(self) -> None:
        """Close when these are too many frames: Uvicorn answers pings and collects fragments itself, whatever their number."""
        if self.handshake_initiated and not self._allowance.take(None, len(self.conn.events)):
            if self.conn.state is State.OPEN:
                self.conn.send_close(POLICY_VIOLATION)
            self.queue.put_nowait({"type": "websocket.disconnect", "code": POLICY_VIOLATION})
            self.close_sent = self._ended = True
            # A close with unread bytes is a reset, which takes the code with it: what still comes is thrown away.
            self.transport.resume_reading()
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.write_eof()
            self.close_timer = self.loop.call_later(ABORT_SECONDS, self.transport.abort)
        else:
            super().handle_events()

    async def run_asgi(self) -> None:
        """Run the application with the extension."""
        offer(cast(Any, self.scope), Direct(self.abort, self.write))
        await super().run_asgi()

    def write(self, frame: bytes) -> bool:
        """Send a frame, or False: see `Direct`."""
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.conn.state is not State.OPEN:
            return False
        self.transport.write(frame)
        return True

    def abort(self) -> None:
        """See `Direct`."""
        abort_soon(self.loop, self.transport)

    def keepalive_timeout(self) -> None:
        """Close; Uvicorn would wait until the client has read what still waits for it."""
        super().keepalive_timeout()
        self.abort()


#: Seconds in which a request must be complete, from the connection on.
REQUEST_SECONDS = 10.0
#: The most bytes of a request with its body, which nothing here needs.
_REQUEST_BYTES: Final = 64 * 1024
_HEAD_BYTES: Final = 32 * 1024
_HEADER_LIMIT: Final = 100


class SingleRequest(HttpToolsProtocol):
    """Takes one request of proper form (`social.api.heads`), complete within REQUEST_SECONDS, and ends with its answer.

    Uvicorn itself waits without end for a first request and for its body, takes heads without end, and answers a broken
    request into the middle of another answer.
    """

    _timer: asyncio.TimerHandle | None = None
    _received = 0
    _refusal = 400

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # only TCP comes here
        """Begin to wait for the request."""
        super().connection_made(transport)
        limit_send_buffer(transport)
        self._timer = self.loop.call_later(REQUEST_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Read the next bytes; nothing behind the request."""
        if self._timer is None or self.transport.is_closing():
            return
        self._received += len(data)
        if self._received > _REQUEST_BYTES:
            self._refusal = 431 if self.cycle is None else 413
            self.send_400_response("")
        else:
            super().data_received(data)

    def on_headers_complete(self) -> None:
        """Take the request. What is raised here is a request that the parser refuses."""
        status = refusal_of(
            self.url,
            self.parser.get_http_version(),
            self.headers,
            size_limit=_HEAD_BYTES,
            count_limit=_HEADER_LIMIT,
        )
        if status is not None:
            self._refusal = status
        begun = self.cycle is not None
        if status is not None or begun:
            raise ValueError
        super().on_headers_complete()
        offer(cast(Any, self.scope), Direct(partial(abort_soon, self.loop, self.transport)))

    def on_message_complete(self) -> None:
        """Stop waiting when the request is there with its body."""
        super().on_message_complete()
        if self.cycle is not None:
            self._stop()

    def handle_websocket_upgrade(self) -> None:
        """Stop waiting: the connection is a WebSocket's from here on."""
        self._stop()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Refuse the request in JSON, whatever Uvicorn would say, unless an answer has begun, and end the connection."""
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(refusal(self._refusal))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
