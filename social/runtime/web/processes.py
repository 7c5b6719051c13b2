"""The web processes: forked from one that has loaded everything, watched by their heartbeats, replaced when they end."""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType

from social.runtime.processes import LOOK_SECONDS, AwakeTime
from social.runtime.web.limits import UNSENT

logger = logging.getLogger("social.web")

#: Seconds without a heartbeat after which a process counts as hung.
SILENCE_SECONDS = 5.0
#: Seconds a process has for its start before silence counts.
START = 30.0
#: A process that lived less than this is started again only after a pause of this length.
SHORT_LIFE = 2.0
#: Seconds a process goes on answering what arrives at its connections after it was asked to leave.
LEAVE_SECONDS = 2.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_BEAT = struct.Struct("d")


@dataclass
class _Process:
    number: int
    pid: int = 0
    started: float = 0.0
    due: float | None = None
    killed: bool = field(default=False)
    # The last heartbeat, and when it was seen by the awake time of the watcher; before the first one: the start.
    beat: float = 0.0
    seen: float = 0.0


class Heartbeats:
    """A moment for each process, in memory that they share with the one that watches."""

    def __init__(self, processes: int) -> None:
        self._memory = mmap.mmap(-1, _BEAT.size * processes)

    def beat(self, number: int) -> None:
        """Say that process `number` does its work."""
        _BEAT.pack_into(self._memory, _BEAT.size * number, time.monotonic())

    def last(self, number: int) -> float:
        """The moment of its last heartbeat, by the monotonic clock; 0.0 for never."""
        return float(_BEAT.unpack_from(self._memory, _BEAT.size * number)[0])

    def forget(self, number: int) -> None:
        """A new process takes the number over."""
        _BEAT.pack_into(self._memory, _BEAT.size * number, 0.0)


def listen(address: str, port: int, backlog: int = 2048) -> socket.socket:
    """The listening socket shared by all processes: a process that hangs accepts no connections, and a new process accepts
    those already waiting.

    Raises OSError if the address cannot be listened on.
    """
    family, kind, protocol, _, name = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        # The connections inherit it: the system takes the next bytes when little of the last ones has yet to be sent, so that
        # how quickly a client reads shows in how quickly the system takes, and a slow one costs no 4 MB.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    listener.bind(name)
    listener.listen(backlog)
    listener.setblocking(False)
    return listener


class Processes:
    """`count` processes that run `serve(beat)`, until SIGTERM or SIGINT; each has `grace` seconds to end.

    A process that ends, or whose heartbeat is silent for `silence` seconds, is replaced. `former` are processes of the
    program before this one: for each new one that works one of them is asked to leave, by SIGHUP. SIGHUP has the program
    of today loaded by `check`, and when that process ends with 0, `succeed` is called with the processes.
    """

    def __init__(
        self,
        count: int,
        serve: Callable[[Callable[[], None]], None],
        *,
        grace: float,
        silence: float = SILENCE_SECONDS,
        former: Sequence[int] = (),
        check: Callable[[], subprocess.Popen[bytes]] | None = None,
        succeed: Callable[[list[int]], object] | None = None,
    ) -> None:
        self._serve = serve
        self._silence = silence
        self._grace = grace
        self._beats = Heartbeats(count)
        self._awake = AwakeTime()
        self._processes = [_Process(number) for number in range(count)]
        self._stopping = False
        self._wakeup, self._waker = os.pipe()
        self._former = list(former)
        #: Former processes that were asked to leave, and when each has to be gone.
        self._leaving: dict[int, float] = {}
        self._check, self._succeed = check, succeed
        self._wanted = False
        self._checking: subprocess.Popen[bytes] | None = None

    def run(self, beat: Callable[[], None] = lambda: None) -> None:
        """Keep them running; `beat` is called every second."""
        self._beat = beat
        for signum in _SIGNALS:
            signal.signal(signum, self._on_signal)
        for end in (self._wakeup, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for process in self._processes:
            self._start(process)
            if self._former:
                self._replace(self._former.pop(0), process)
        for pid in self._former:
            self._ask_to_leave(pid)
        while not self._stopping:
            self._turn()
            if self._wanted and not self._leaving:
                self._reload()
        self._end()

    def _turn(self) -> None:
        self._beat()
        select.select([self._wakeup], [], [], LOOK_SECONDS)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakeup, 4096)
        self._look()
        for pid, deadline in list(self._leaving.items()):
            self._see_out(pid, deadline)

    def _replace(self, former: int, process: _Process) -> None:
        """Have a former process leave when a new one works; until then it serves."""
        while not self._beats.last(process.number) and not self._stopping:
            self._turn()
        self._ask_to_leave(former)

    def _ask_to_leave(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGHUP)
        self._leaving[pid] = time.monotonic() + LEAVE_SECONDS + self._grace

    def _see_out(self, pid: int, deadline: float) -> None:
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            if not os.waitpid(pid, os.WNOHANG)[0]:
                if time.monotonic() < deadline:
                    return
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        del self._leaving[pid]

    def _reload(self) -> None:
        """Go on with the program of today when it can be loaded; else with this one."""
        if self._check is None or self._succeed is None:
            return
        if self._checking is None:
            self._checking = self._check()
        code = self._checking.poll()
        if code is None:
            return
        self._checking, self._wanted = None, False
        if code:
            logger.error("the program could not be loaded (%d): the web processes go on as they are", code)
        else:
            self._succeed([process.pid for process in self._processes if process.pid])

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        if signum == signal.SIGHUP:
            self._wanted = True
        elif signum != signal.SIGCHLD:
            self._stopping = True

    def _start(self, process: _Process) -> None:
        self._beats.forget(process.number)
        process.started, process.due, process.killed = time.monotonic(), None, False
        process.beat, process.seen = 0.0, self._awake.seconds
        process.pid = os.fork()
        if process.pid:
            return
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for signum in _SIGNALS:
                signal.signal(signum, signal.SIG_DFL)
            self._serve(lambda: self._beats.beat(process.number))
            code = 0
        except BaseException:
            logger.exception("a web process failed")
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            # Threads may still be in the middle of something: nothing of this process is waited for.
            os._exit(code)

    def _look(self) -> None:
        now = time.monotonic()
        self._awake.look()
        for process in self._processes:
            if process.pid:
                ended, status = os.waitpid(process.pid, os.WNOHANG)
                if ended:
                    self._ended(process, os.waitstatus_to_exitcode(status), now)
                elif self._is_silent(process) and not process.killed:
                    logger.error("web process %d answers nothing and is replaced", process.pid)
                    process.killed = True
                    os.kill(process.pid, signal.SIGKILL)
            elif process.due is not None and process.due <= now:
                self._start(process)

    def _is_silent(self, process: _Process) -> bool:
        last = self._beats.last(process.number)
        if last != process.beat:
            process.beat, process.seen = last, self._awake.seconds
        return self._awake.seconds - process.seen > (self._silence if process.beat else START)

    def _ended(self, process: _Process, code: int, now: float) -> None:
        process.pid = 0
        if self._stopping:
            return
        pause = 0.0 if now - process.started >= SHORT_LIFE else SHORT_LIFE
        logger.error("a web process ended (%d) and is started again", code)
        process.due = now + pause
        if not pause:
            self._start(process)

    def _end(self) -> None:
        for pid in (*self._former, *self._leaving):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        for process in self._processes:
            if process.pid:
                os.kill(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        while any(process.pid for process in self._processes) and time.monotonic() < deadline:
            for process in self._processes:
                if process.pid and os.waitpid(process.pid, os.WNOHANG)[0]:
                    process.pid = 0
            time.sleep(0.01)
        for process in self._processes:
            if process.pid:
                logger.error("web process %d did not end in time and is killed", process.pid)
                os.kill(process.pid, signal.SIGKILL)
                os.waitpid(process.pid, 0)
