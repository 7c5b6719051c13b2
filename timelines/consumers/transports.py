"""Subclasses of Uvicorn's protocols that add direct writes to the network, and time-outs for clients that send no request or
stop reading. With ASGI alone, a message to thousands of clients needs a coroutine for each, and a connection cannot be ended if
its client reads nothing. A consumer finds the functions `write` and `abort` in its scope, as the extension EXTENSION; under
another server the extension is absent, and the consumer does without it.
"""

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

#: Seconds that a client has to read queued data before its connection is aborted.
ABORT_SECONDS = 5.0

# Security row 70: limits on the frames of each socket. They leave room for all commands that a client may send (`registry`) and
# for pongs.
_FRAMES_AT_ONCE: Final = 600
_FRAMES_A_SECOND: Final = 12.0
_PIECE_BYTES: Final = 4096


def refusal(status: int) -> bytes:
    """Return a complete HTTP response that refuses a request in JSON."""
    reason = HTTPStatus(status).phrase
    body = orjson.dumps({"error": reason})
    return (
        b"HTTP/1.1 %d %b\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\n"
        b"Content-Length: %d\r\nConnection: close\r\n\r\n%b"
    ) % (status, reason.encode(), len(body), body)


@dataclass(frozen=True, slots=True)
class Direct:
    """Operations that a connection offers in addition to ASGI; they must be called in the event loop. `write` sends a frame
    immediately, or returns False if the client has not read earlier data yet or the connection is ending. `abort` ends the
    connection after ABORT_SECONDS at the latest.
    """

    abort: Callable[[], None]
    write: Callable[[bytes], bool] | None = None

    @classmethod
    def of(cls, scope: Mapping[str, Any]) -> "Direct | None":
        """Return the operations that the server offers; None if the server offers none."""
        found = (scope.get("extensions") or {}).get(EXTENSION)
        return found if isinstance(found, cls) else None


def offer(scope: MutableMapping[str, Any], direct: Direct) -> None:
    """Add the operations to the scope of a connection."""
    scope["extensions"] = {**(scope.get("extensions") or {}), EXTENSION: direct}


def abort_soon(loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
    """End a connection after ABORT_SECONDS; a normal close would wait for the client indefinitely while data is queued."""
    loop.call_later(ABORT_SECONDS, transport.abort)


class DirectWebSocket(WebSocketsSansIOProtocol):
    """WebSocket protocol with EXTENSION; drops clients that send too many frames or do not answer pings."""

    _ended = False
    """True after too many frames were received."""

    def connection_made(self, transport: BaseTransport) -> None:
        # Without this limit, Linux would buffer up to 4 MB for each client that does not read.
        super().connection_made(transport)
        limit_send_buffer(transport)
        self._allowance = Allowances(_FRAMES_AT_ONCE, _FRAMES_A_SECOND)

    def data_received(self, data: bytes) -> None:
        """Refuse a request whose lines or number of headers exceed the limits of `websockets`.

        Uvicorn passes on the whole request at once; therefore a request with an incomplete handshake would keep its connection
        open forever without a response. Later data is passed on in pieces, because the parser would process all of it before
        the limit on frames takes effect.
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
        """Close the connection after too many frames, because Uvicorn answers pings and collects fragments without limit."""
        if self.handshake_initiated and not self._allowance.take(None, len(self.conn.events)):
            if self.conn.state is State.OPEN:
                self.conn.send_close(POLICY_VIOLATION)
            self.queue.put_nowait({"type": "websocket.disconnect", "code": POLICY_VIOLATION})
            self.close_sent = self._ended = True
            # Closing a socket with unread bytes sends a reset, and the close code is lost. Further input is therefore read and
            # discarded.
            self.transport.resume_reading()
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.write_eof()
            self.close_timer = self.loop.call_later(ABORT_SECONDS, self.transport.abort)
        else:
            super().handle_events()

    async def run_asgi(self) -> None:
        offer(cast(Any, self.scope), Direct(self.abort, self.write))
        await super().run_asgi()

    def write(self, frame: bytes) -> bool:
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.conn.state is not State.OPEN:
            return False
        self.transport.write(frame)
        return True

    def abort(self) -> None:
        abort_soon(self.loop, self.transport)

    def keepalive_timeout(self) -> None:
        # Abort the connection as well, because Uvicorn would wait until the client has read the queued data.
        super().keepalive_timeout()
        self.abort()


#: Time-out for a complete request, in seconds from the start of the connection.
REQUEST_SECONDS = 10.0
#: Maximum size of a request with its body in bytes, although no endpoint of this process needs a body.
_REQUEST_BYTES: Final = 64 * 1024
_HEAD_BYTES: Final = 32 * 1024
_HEADER_LIMIT: Final = 100


class SingleRequest(HttpToolsProtocol):
    """HTTP protocol that accepts one well-formed request (`social.api.heads`), which must be complete within REQUEST_SECONDS,
    and closes the connection after the response. Uvicorn would wait for a request indefinitely, and send errors in the middle
    of other responses.
    """

    _timer: asyncio.TimerHandle | None = None
    _received = 0
    _refusal = 400

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # only TCP comes here
        super().connection_made(transport)
        limit_send_buffer(transport)
        self._timer = self.loop.call_later(REQUEST_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        # Bytes after the request are ignored.
        if self._timer is None or self.transport.is_closing():
            return
        self._received += len(data)
        if self._received > _REQUEST_BYTES:
            self._refusal = 431 if self.cycle is None else 413
            self.send_400_response("")
        else:
            super().data_received(data)

    def on_headers_complete(self) -> None:
        # An exception raised here makes the parser refuse the request.
        values: dict[bytes, str] = {}
        for name, value in self.headers:
            values[name] = f"{values[name]},{value.decode('latin-1')}" if name in values else value.decode("latin-1")
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > _HEAD_BYTES or len(self.headers) > _HEADER_LIMIT:
            status: int | None = 431
        elif b"#" in self.url:
            status = 400
        else:
            version = self.parser.get_http_version()
            status = refusal_of(version, values.get(b"host"), values.get(b"transfer-encoding"))
        if status is not None:
            self._refusal = status
        has_begun = self.cycle is not None
        if status is not None or has_begun:
            raise ValueError
        super().on_headers_complete()
        offer(cast(Any, self.scope), Direct(partial(abort_soon, self.loop, self.transport)))

    def on_message_complete(self) -> None:
        # The request is complete with its body.
        super().on_message_complete()
        if self.cycle is not None:
            self._stop()

    def handle_websocket_upgrade(self) -> None:
        # The connection becomes a WebSocket.
        self._stop()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        # Respond in JSON instead of with Uvicorn's message, unless a response has begun.
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(refusal(self._refusal))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
