"""How many files and sockets a process may have open, and what the system keeps for a client that does not read."""

from __future__ import annotations

import resource
import socket
from asyncio.transports import BaseTransport
from typing import Final

SEND_BUFFER: Final = 64 * 1024


def allow_many() -> None:
    """Every connection is an open file: take what the system allows instead of the 1024 that are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 20 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def limit_send_buffer(transport: BaseTransport) -> None:
    """Have the system keep twice SEND_BUFFER bytes for a client and no more; Linux would keep up to 4 MB for each."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
