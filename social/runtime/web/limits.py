"""Limits of what one client, and all of them together, may hold."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024
#: Bytes of answers that may wait in the system for one client: it takes so many at once, and more when some of them are sent.
UNSENT = 128 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a web process. Times are seconds, sizes bytes.

    A body must have arrived after `body_grace` plus one second for each `body_rate` bytes received, and after
    `body_longest` in any case.
    """

    threads: int = 8
    waiting: int = 256
    """Whole requests that wait for a thread; further ones are answered 503."""
    upload_threads: int = 2
    uploads_waiting: int = 32
    uploads_per_address: int = 8

    connections: int = 2048
    """Number of open connections at which the longest idle one is closed for each new one."""
    connections_per_address: int = 256
    pipelined: int = 8
    """Requests a client may send ahead of the answers."""

    head: int = 32 * 1024
    headers: int = 100
    head_seconds: float = 10.0
    idle_seconds: float = 75.0
    """Time a connection is kept for a next request: longer than the 60 s after which nginx closes it itself."""

    body: int = MEBIBYTE
    """Size for paths that declare no other."""
    body_in_memory: int = 64 * 1024
    """Size beyond which a body is kept in a file without a name."""
    body_grace: float = 20.0
    body_rate: int = 2048
    body_longest: float = 600.0
    bodies_per_address: int = 64
    bodies_total: int = 1024 * MEBIBYTE

    read_seconds: float = 60.0
    """Time that a client may take for each 64 KiB of an answer: about 1 KiB a second."""

    stuck_seconds: float = 30.0
    """Time without a finished request, while others wait, after which the process counts as hung."""
    stop_seconds: float = 3.0
    """Time for requests under way to finish when the process is asked to stop."""
