"""Describes, starts and ends child processes; they end with their own children, even if this process is killed."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from social.kernel.liveness import DESCRIPTOR

#: The longest time, in seconds, that is counted between two calls of `AwakeTime.look`.
LOOK_SECONDS: Final = 1.0


class AwakeTime:
    """Clock that counts only the time during which this process ran: at most LOOK_SECONDS between two calls of `look`.
    While the machine was paused or busy with other processes, the watched processes could not send heartbeats either.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()

    def look(self) -> float:
        """Return the seconds counted so far, including the time since the last call."""
        now = time.monotonic()
        self.seconds += min(now - self._last, LOOK_SECONDS)
        self._last = now
        return self.seconds


SUPERVISED = "SOCIAL_SUPERVISED"
_PR_SET_PDEATHSIG = 1
# The function is looked up before the fork: between fork and exec, imports and allocations could wait for a lock of another
# thread.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_forking = 0


def die_with_parent(signum: int) -> Callable[[], Any] | None:
    """Return a `preexec_fn` that has the kernel send `signum` to the child when the thread that started it ends.

    Start such children from the main thread. Returns None on systems other than Linux; there, `follow_parent` does the same
    for our own programs.
    """
    return None if _prctl is None else partial(_prctl, _PR_SET_PDEATHSIG, signum, 0, 0, 0)


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent: int) -> None:
    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        _end()

    threading.Thread(target=look, daemon=True, name="parent-watch").start()


def _attach(parent: int) -> None:
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the death signal was set
            _end()
    else:
        _watch(parent)


def _before_fork() -> None:
    global _forking
    _forking = os.getpid()


def follow_parent() -> None:
    """Make this process end when the supervisor that started it ends, and every Python process that it forks end with it.

    The supervisor puts its process id into the environment; without it this does nothing, so that the same programs run under
    any other supervisor. Processes started by `subprocess` are not affected: the process that starts them waits for them.
    """
    supervisor = os.environ.get(SUPERVISED, "")
    if not supervisor:
        return
    _attach(int(supervisor))
    os.register_at_fork(before=_before_fork, after_in_child=lambda: _attach(_forking))


#: Seconds within which PostgreSQL and Valkey answer at least once, however busy they are.
DATA_SERVER_SILENCE = 60.0


@dataclass(frozen=True)
class ProcessSpec:
    """Description of a child process.

    `environment` is added to ours. `stop_signal` asks the process to end; the kernel sends `death_signal` when its parent
    dies. `user` holds the keyword arguments of `subprocess` that change its user. `ready` tells, within 2 s, whether the
    process does its work. `explain` turns the last lines of a child that could not start into one line with a remedy. Lines
    that contain one of `hushed` are not shown. `reload_signal` makes the process load the program again, by itself or by
    ending and being restarted; 0 for programs that are not ours. `silence`: seconds without a sign of life after which the
    process counts as hung. Our own programs send heartbeats (`social.kernel.liveness`); other programs are checked by
    `alive`, which returns within 2 s.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    death_signal: int = signal.SIGKILL
    reload_signal: int = 0
    user: Mapping[str, object] = field(default_factory=dict)
    cwd: Path | str | None = None
    ready: Callable[[], bool] | None = None
    explain: Callable[[list[str]], str | None] | None = None
    pid_file: Path | None = None
    hushed: tuple[str, ...] = ()
    silence: float | None = None
    alive: Callable[[], bool] | None = None


def reply_of(path: Path, question: bytes) -> bytes:
    """Return the first bytes of a server's reply to `question` on its socket; none without a reply within 2 s."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(2)
            connection.connect(str(path))
            connection.sendall(question)
            return connection.recv(16)
    except OSError:
        return b""


def spawn(spec: ProcessSpec, output: int | IO[bytes], heartbeat: int | None = None) -> subprocess.Popen[bytes]:
    """Start a process in a session and process group of its own, so that a Ctrl-C in the terminal reaches only us. It
    inherits the file descriptor `heartbeat`, to which it writes its heartbeats.

    Call it from the main thread: the death signal is tied to the thread that starts the child.
    """
    process = subprocess.Popen(
        spec.command,
        cwd=spec.cwd,
        env={**os.environ, **spec.environment, **({} if heartbeat is None else {DESCRIPTOR: str(heartbeat)})},
        pass_fds=() if heartbeat is None else (heartbeat,),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=die_with_parent(spec.death_signal),
        **spec.user,  # type: ignore[call-overload]  # the user's options are a dict
    )
    if spec.pid_file is not None:
        with contextlib.suppress(OSError):
            spec.pid_file.write_text(str(process.pid))
    return process  # type: ignore[no-any-return]  # of the call above no type is known


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process has ended, without reaping it: its process id and group id cannot be reused until then."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return process.poll() is not None


def end_group(process: subprocess.Popen[bytes]) -> int:
    """Kill the rest of a process's group, reap the process and return its exit code (negative: the signal that ended it)."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def stop(process: subprocess.Popen[bytes], signum: int, grace: float) -> None:
    """Stop one child: send it `signum`, wait at most `grace` seconds, then kill its group."""
    if not has_ended(process):
        process.send_signal(signum)
    deadline = time.monotonic() + grace
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    end_group(process)


def describe_exit(code: int) -> str:
    """Return an exit code in words: `was ended by SIGKILL` or `ended with code 1`."""
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def is_running(pid: int, mark: str, *, uncollected: bool = False) -> bool:
    """Tell whether a process with this id is alive and has `mark` in its command line (where the system shows that).

    With `uncollected`, a zombie (ended, but not yet reaped by its parent) counts too, since it still has its id.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    except OSError:
        return True
    if state == "Z":
        return uncollected
    return mark.encode() in command
