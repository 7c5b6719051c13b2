"""How many files and sockets a process may have open."""

from __future__ import annotations

import resource


def allow_many() -> None:
    """Every connection is an open file: take what the system allows instead of the 1024 that are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1 << 20 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
