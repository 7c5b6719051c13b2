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
from typing import Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from social.kernel.descriptors import limit_send_buffer

EXTENSION: Final = "social.transport"

#: Seconds for a client to read what still waits for it once its connection is to end.
ABORT_SECONDS = 5.0

_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 43\r\nConnection: close\r\n\r\n"
    b'{"error":"Request header fields too large"}'
)


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
    """Offers EXTENSION, and drops who answers no ping even if nothing can be written to it."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Limit what the system keeps for the client."""
        super().connection_made(transport)
        limit_send_buffer(transport)

    def data_received(self, data: bytes) -> None:
        """Refuse a request with a line or a number of headers beyond what `websockets` takes.

        Uvicorn hands the request over whole, so that one which has not begun a handshake never will; it would keep the
        connection without an answer and without an end.
        """
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            self.handshake_complete = True
            self.transport.write(_TOO_LARGE)
            self.transport.close()

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


#: Seconds in which a request must be complete, from the connection or the last answer on.
REQUEST_SECONDS = 10.0


class RequestDeadline(H11Protocol):
    """Ends a connection without a complete request for REQUEST_SECONDS, whatever trickles in meanwhile.

    Uvicorn itself waits without end for a first request, and for a next one as long as a byte comes every five seconds.
    Requests that are being answered, and WebSockets, are not concerned.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        limit_send_buffer(transport)
        self._wait()

    def handle_events(self) -> None:
        """Stop waiting when a request is there with its body, which nothing here needs."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop()
            offer(cast(Any, self.cycle.scope), Direct(partial(abort_soon, self.loop, self.transport)))

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Stop waiting: the connection is a WebSocket's from here on."""
        self._stop()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._wait()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
