"""Uvicorn's HTTP protocol with a deadline for requests: who connects and sends none is disconnected."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from social.kernel.descriptors import limit_send_buffer
from timelines.consumers.transports import Direct, abort_soon, offer

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
