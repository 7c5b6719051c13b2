"""Limits of open files and sockets of a process, and of what the system keeps for a client that does not read."""

from __future__ import annotations

import resource
import socket
from asyncio.transports import BaseTransport
from typing import Final

SEND_BUFFER: Final = 64 * 1024
#: The limit that is asked for where the system has none.
_UNLIMITED: Final = 1 << 20


def allow_many() -> None:
    """Raise the limit of open files to what the system allows: each connection is one, and 1024 are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _UNLIMITED if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def limits(pid: int) -> tuple[int, int]:
    """Return how many files a process may open: the limit it has, and that up to which it may raise it by itself.

    Systems other than Linux answer for this process only, whose limits are then given. Raises OSError for processes that
    have ended and for those of other users.
    """
    prlimit = getattr(resource, "prlimit", None)
    found = prlimit(pid, resource.RLIMIT_NOFILE) if prlimit else resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (_UNLIMITED if limit == resource.RLIM_INFINITY else limit for limit in found)
    return soft, hard


def limit_send_buffer(transport: BaseTransport) -> None:
    """Have the system keep twice SEND_BUFFER bytes for a client and no more; Linux would keep up to 4 MB for each."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
