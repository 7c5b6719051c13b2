"""Web process: Uvicorn with the adapter, the protocol and the limits of this server."""

from __future__ import annotations

import math
import socket
from typing import cast

import uvicorn

from social.runtime.web.adapter import Adapter
from social.runtime.web.connection import Connection
from social.runtime.web.limits import Limits


def serve(adapter: Adapter, limits: Limits, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, and let requests under way end within `limits.stop_seconds`."""
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
    uvicorn.Server(config).run(sockets=[listener])
