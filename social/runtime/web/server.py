"""Web process: Uvicorn with the adapter, the protocol and the limits of this server."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import cast

import uvicorn

from social.runtime.web.adapter import Adapter
from social.runtime.web.connection import Connection
from social.runtime.web.limits import Limits
from social.runtime.web.processes import LEAVE_SECONDS


def serve(
    adapter: Adapter, limits: Limits, listener: socket.socket, *, at_end: Callable[[], None] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, and let requests under way end within `limits.stop_seconds`.

    SIGHUP asks to leave: no connection is accepted any more, and those that are open are answered and closed. `at_end` is
    called in a thread after the last answer.
    """
    config = uvicorn.Config(
        adapter,
        http=Connection,
        ws="none",
        loop="uvloop",
        interface="asgi3",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=math.ceil(limits.idle_seconds),
        # Declared a whole number; it is what asyncio.wait_for takes.
        timeout_graceful_shutdown=cast(int, limits.stop_seconds),
    )
    server = _Server(config, adapter, at_end)
    signal.signal(signal.SIGHUP, server.leave)
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, adapter: Adapter, at_end: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._adapter = adapter
        self._at_end = at_end
        self._leaving = False

    def leave(self, signum: int, frame: FrameType | None) -> None:
        """Handle SIGHUP."""
        self._leaving = self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. Who was asked to leave first answers, for a while, what clients have sent or are about to."""
        if self._leaving:
            for listener in self.servers:
                listener.close()
            self._adapter.connections.stopping = True
            deadline = time.monotonic() + LEAVE_SECONDS
            while self.server_state.connections and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
        await super().shutdown(sockets)
        if self._at_end is not None:
            await asyncio.to_thread(self._at_end)
