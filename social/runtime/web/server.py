"""The web processes: Granian starts them, replaces those that end, and stops them.

Each is forked from a process that has loaded everything. All of them accept connections from one socket, so that no
connection waits for a process that has hung or ended.
"""

import contextlib
import logging
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Final

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.net import SocketHolder  # type: ignore[attr-defined]  # not listed as exported

from social.kernel.liveness import tell_supervisor
from social.runtime.processes import LOOK_SECONDS, SUPERVISED, AwakeTime
from social.runtime.web.adapter import Adapter, Limits

logger = logging.getLogger("social.web")

_BACKLOG: Final = 8192
#: Open files that a process needs in addition to those of its connections. A connection may need two: its socket, and a
#: body or file.
_OWN_FILES: Final = 256
#: Environment variable with the socket and the web processes of the program that this one replaces.
_INHERITANCE: Final = "SOCIAL_INHERITANCE"
#: Seconds that a process has until its first heartbeat.
_START_SECONDS: Final = 30.0
_PID_BYTES: Final = 4
_COMMAND: Final = (sys.executable, "-m", "social.runtime.serve", "web")


def listen(address: str, port: int, read_seconds: float) -> socket.socket:
    """Return the listening socket, which all processes share. A connection ends when its client has accepted no data for
    `read_seconds`.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server(
        (address, port), family=family, backlog=_BACKLOG, dualstack_ipv6=family == socket.AF_INET6
    )
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(read_seconds * 1000))
    listener.setblocking(False)
    return listener


class Server(Granian):  # type: ignore[misc,valid-type]  # it is chosen by an expression
    """`workers` processes that serve `adapter`, until SIGTERM or SIGINT.

    SIGHUP replaces the program: this process executes the current program, which inherits the socket, starts new processes, and
    makes the previous processes end. If the current program cannot be loaded, nothing is replaced.
    """

    def __init__(self, adapter: Adapter, limits: Limits, address: str, port: int, *, workers: int) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        super().__init__(
            "social",
            interface=Interfaces.RSGI,
            workers=workers,
            loop=Loops.uvloop,
            http=HTTPModes.http1,
            websockets=False,
            backlog=_BACKLOG,
            # The number of connections must never reach the limit of open files, because Granian then stops accepting
            # for good.
            backpressure=max(16, min(limits.connections, (files - _OWN_FILES) // 2)),
            runtime_blocking_threads=4,
            http1_settings=HTTP1Settings(
                header_read_timeout=int(limits.head_seconds * 1000), max_buffer_size=32 * 1024
            ),
            respawn_failed_workers=True,
            workers_kill_timeout=limits.stop_seconds,  # passed to Process.join, which accepts a float
            log_level=LogLevels.warning,
            # Without handlers of its own, Granian logs like Django.
            log_dictconfig={key: {} for key in ("formatters", "handlers", "loggers")},
        )
        listener, *self._former = map(int, os.environ.pop(_INHERITANCE, "-1").split())
        self._listener = listen(address, port, limits.read_seconds) if listener < 0 else socket.socket(fileno=listener)
        adapter.stop_accepting = self._stop_accepting
        self._beats_in, self._beats_out = os.pipe()
        for end in (self._beats_in, self._beats_out):
            os.set_blocking(end, False)
        adapter.beat = self._beat
        self._adapter, self._limits = adapter, limits
        self.on_startup(self._start_threads)

    def run(self) -> None:
        multiprocessing.set_start_method("fork", force=True)
        self.serve(target_loader=lambda: self._adapter, wrap_loader=False)

    def _init_shared_socket(self) -> None:
        # Granian would give each process its own socket, and the connections that wait in the socket of a process would be
        # reset when it ends.
        holder: Any = SocketHolder
        self._ssp, self._shd = None, holder(self._listener.fileno(), False, _BACKLOG)
        self._sso = self._listener

    def _stop_accepting(self) -> None:
        """Leave new connections to the other processes, by replacing the listening socket: Granian would close connections
        that it has just accepted.
        """
        with socket.create_server(("127.0.0.1", 0), backlog=1) as unused:
            unused.setblocking(False)
            os.dup2(unused.fileno(), self._listener.fileno())

    def _beat(self) -> None:
        with contextlib.suppress(OSError):  # nobody reads the pipe of a previous process that is ending
            os.write(self._beats_out, os.getpid().to_bytes(_PID_BYTES))

    def _start_threads(self) -> None:
        threading.Thread(target=self._watch, daemon=True, name="watch").start()
        for pid in self._former:
            threading.Thread(target=self._end_former, args=(pid,), daemon=True, name=f"end-{pid}").start()

    def _watch(self) -> None:
        """Kill the processes that send no heartbeats; Granian starts others."""
        awake, ends = AwakeTime(), dict[int, float]()
        while True:
            time.sleep(LOOK_SECONDS)
            tell_supervisor()
            now = awake.look()
            with contextlib.suppress(BlockingIOError):
                data = os.read(self._beats_in, 65536)
                for place in range(0, len(data), _PID_BYTES):
                    ends[int.from_bytes(data[place : place + _PID_BYTES])] = now + self._limits.silence
            pids = {worker.inner.pid for worker in list(self.wrks) if worker.is_alive()}
            ends = {pid: ends.get(pid, now + _START_SECONDS) for pid in pids}
            for pid in (pid for pid, end in ends.items() if end <= now):
                logger.error("web process %d sends no heartbeats and is replaced", pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGUSR1)
                    time.sleep(0.5)  # time in which the process logs the stacks of its threads
                    os.kill(pid, signal.SIGKILL)

    def _end_former(self, pid: int) -> None:
        deadline = time.monotonic() + self._limits.leave_seconds + self._limits.stop_seconds
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGHUP)
            while not os.waitpid(pid, os.WNOHANG)[0]:
                time.sleep(0.1)
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)

    def _reload(self, *_: Any) -> None:
        """Execute the current program in this process. It must run in the main thread, because the web processes end with
        the thread that started them.
        """
        self.reload_signal = False
        self.main_loop_interrupt.clear()
        environment = {name: value for name, value in os.environ.items() if name != SUPERVISED}
        if code := subprocess.run(
            [*_COMMAND, "--check"], env=environment, stdin=subprocess.DEVNULL, check=False
        ).returncode:
            logger.error("the program could not be loaded (%d): the web processes go on as they are", code)
        elif not self.interrupt_signal:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the new program installs its handler
            os.set_inheritable(self._listener.fileno(), True)
            pids = [worker.inner.pid for worker in self.wrks]
            os.environ[_INHERITANCE] = " ".join(map(str, [self._listener.fileno(), *pids]))
            os.execv(_COMMAND[0], _COMMAND)  # noqa: S606  (no shell)
