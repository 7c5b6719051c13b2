"""Limits on open files and send buffers, and syncing of folders to the disk."""

from __future__ import annotations

import os
import resource
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from asyncio.transports import BaseTransport

SEND_BUFFER: Final = 64 * 1024
#: The limit to set if the system has none.
_UNLIMITED: Final = 1 << 20


def allow_many() -> None:
    """Raise the limit on open files to the system's maximum, because each connection counts as a file, and the usual limit is
    1024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _UNLIMITED if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def limits(pid: int) -> tuple[int, int]:
    """Return a process's soft and hard limit on open files (on systems other than Linux: of the calling process). Raises
    OSError for a process that has ended or belongs to another user.
    """
    prlimit = getattr(resource, "prlimit", None)
    found = prlimit(pid, resource.RLIMIT_NOFILE) if prlimit else resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (_UNLIMITED if limit == resource.RLIM_INFINITY else limit for limit in found)
    return soft, hard


def limit_send_buffer(transport: BaseTransport) -> None:
    """Limit the system's send buffer for a client to twice SEND_BUFFER bytes; Linux would use up to 4 MB for each client."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)


def sync_folder(folder: Path) -> None:
    """Write a folder's entries to the disk, so that new and renamed files survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
