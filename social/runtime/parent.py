"""Ends a process when the one that started it ends, even when that one was killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

SUPERVISED = "SOCIAL_SUPERVISED"
_PR_SET_PDEATHSIG = 1
_LINUX = sys.platform == "linux"
_forking = 0


def _prctl() -> Callable[[int], None]:
    libc = ctypes.CDLL(None, use_errno=True)
    # Bound before the fork: between fork and exec nothing may be imported or allocated that another thread could hold.
    call = libc.prctl

    def arm(signum: int) -> None:
        call(_PR_SET_PDEATHSIG, signum, 0, 0, 0)

    return arm


def die_with_parent(signum: int) -> Callable[[], None] | None:
    """A `preexec_fn` that has the kernel send `signum` to the child when the thread that started it ends.

    Start such children from the main thread. None outside Linux, where `follow_parent` does it for our own programs.
    """
    if not _LINUX:
        return None
    arm = _prctl()
    return lambda: arm(signum)


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent: int) -> None:
    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        _end()

    threading.Thread(target=look, daemon=True, name="parent-watch").start()


def _attach(parent: int) -> None:
    if _LINUX:
        _prctl()(signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the kernel was asked
            _end()
    else:
        _watch(parent)


def _before_fork() -> None:
    global _forking
    _forking = os.getpid()


def follow_parent() -> None:
    """End this process, and every Python process it forks, with the one that started it. Only under the supervisor.

    The supervisor puts its process id into the environment; without it this does nothing, so the same programs run
    under any other supervisor. Processes started by `subprocess` are not touched: who starts one waits for it.
    """
    supervisor = os.environ.get(SUPERVISED, "")
    if not supervisor:
        return
    _attach(int(supervisor))
    os.register_at_fork(before=_before_fork, after_in_child=lambda: _attach(_forking))
