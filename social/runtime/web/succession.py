"""Replacement of the program of the web processes while they serve: the same process runs the new one, with its socket.

What watches the web processes loads the program of today in a process of its own, to see that it can be; then it becomes
that program itself, as the same process. It inherits the socket and the web processes, starts new ones, and has a
former one leave for each that works.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import Final, NoReturn

from social.runtime.processes import SUPERVISED

_INHERITANCE: Final = "SOCIAL_INHERITANCE"
_COMMAND: Final = (sys.executable, "-m", "social.runtime.serve", "web")


def begin_check() -> subprocess.Popen[bytes]:
    """Start a process that loads the program and ends with 0 when it can be run."""
    environment = {name: value for name, value in os.environ.items() if name != SUPERVISED}
    return subprocess.Popen([*_COMMAND, "--check"], env=environment, stdin=subprocess.DEVNULL)


def succeed(listener: socket.socket, pids: list[int]) -> NoReturn:
    """Become the program of today. Raises OSError when it cannot be started."""
    # Between the two programs nobody would handle another one.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.set_inheritable(listener.fileno(), True)
    os.environ[_INHERITANCE] = f"{listener.fileno()} {' '.join(map(str, pids))}"
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(_COMMAND[0], _COMMAND)  # noqa: S606  (no shell)


def inherited() -> tuple[socket.socket, list[int]] | None:
    """The socket and the processes of the program before; None when there was none."""
    left = os.environ.pop(_INHERITANCE, "").split()
    if not left:
        return None
    descriptor, *pids = map(int, left)
    os.set_inheritable(descriptor, False)
    listener = socket.socket(fileno=descriptor)
    listener.setblocking(False)
    return listener, pids
