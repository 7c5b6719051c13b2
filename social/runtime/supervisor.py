"""Keeps child processes running: restarts those that end or hang, and ends them all on a signal."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType

from social.runtime.console import Console
from social.runtime.failures import Interrupted, OperatorError
from social.runtime.processes import LOOK_SECONDS, AwakeTime, ProcessSpec, describe_exit, end_group, has_ended, spawn

FIRST_DELAY, LONGEST_DELAY, STABLE_AFTER = 0.5, 30.0, 60.0
_LONGEST_LINE = 16 * 1024
#: Seconds that a process has until its first heartbeat or successful check.
START_SECONDS = 120.0
#: Seconds between two checks of a process that sends no heartbeats.
ASKING_SECONDS = 10.0
#: The servers that the other processes use, and that are stopped after them.
_LAST_STOPPED = ("valkey", "postgres")


@dataclass
class Child:
    """Child process of the supervisor, with the state of its restarts; a child that runs `once` is not restarted. `output`
    and `heartbeat` are file descriptors that the supervisor reads, and `code` is the exit code.
    """

    spec: ProcessSpec
    once: bool = False
    process: subprocess.Popen[bytes] | None = None
    code: int = 127
    started: float = 0.0
    failures: int = 0
    due: float | None = None
    unread: bytes = b""
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=30))
    output: int | None = None
    heartbeat: int | None = None
    # Times are read from the supervisor's AwakeTime. Before the first heartbeat, `last_sign` is the time of the start.
    has_shown_life: bool = False
    last_sign: float = 0.0
    last_check: float = 0.0

    @property
    def is_running(self) -> bool:
        return self.process is not None and not has_ended(self.process)

    def send(self, signum: int) -> None:
        if self.process is not None and self.is_running:
            self.process.send_signal(signum)


def restart_delay(failures: int) -> float:
    """Return the back-off before the next start, in seconds: 0.5 after the first failure, doubling up to 30."""
    return min(FIRST_DELAY * 2.0 ** min(failures, 10), LONGEST_DELAY)


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe on which neither reading nor writing blocks."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


class Supervisor:
    """Starts children, passes their lines to the console, restarts those that end, and stops all on SIGTERM or SIGINT.

    There is one thread with one `select`, because children end with the thread that forked them. No wait for a reader, a
    child or a liveness check is longer than 2 s. When a child ends, the rest of its process group is killed before it is
    started again.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.children: dict[str, Child] = {}
        self.signals: list[int] = []
        self._stopping = False
        self._reloading = False
        self._awake = AwakeTime()
        self._wakeup, self._waker = _pipe()

    @contextlib.contextmanager
    def listening(self) -> "Iterator[Supervisor]":
        """Handle signals inside the block; at its end, stop everything. The process is expected to end soon after the block: a
        signal that arrives then has no effect.
        """
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(name, self._on_signal)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        try:
            yield self
        finally:
            self.stop()
            self.console.finish()

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        # In a terminal, SIGHUP means that the terminal was closed, and stops the server.
        if signum == signal.SIGHUP and not os.isatty(0):
            self._reloading = True
        elif signum != signal.SIGCHLD:
            self.signals.append(signum)

    def start(self, spec: ProcessSpec) -> None:
        self._launch(self.children.setdefault(spec.name, Child(spec)))

    def _launch(self, child: Child) -> None:
        child.due, child.started, child.unread = None, time.monotonic(), b""
        child.has_shown_life, child.last_sign, child.last_check = False, self._awake.seconds, self._awake.seconds
        given: int | None = None
        if child.spec.silence is not None and child.spec.alive is None:
            child.heartbeat, given = _pipe()
        try:
            child.process = spawn(child.spec, subprocess.PIPE, given)
        except OSError as error:
            self._close(child)
            child.tail.append(str(error))
            self._plan_restart(child, f"cannot be started ({error.strerror})")
            return
        finally:
            if given is not None:
                os.close(given)
        assert child.process.stdout is not None
        child.output = child.process.stdout.fileno()
        os.set_blocking(child.output, False)

    def wait_until_ready(self, names: Sequence[str], seconds: float, *, attempts: int = 1) -> None:
        """Wait until all named children are ready. Raises OperatorError if a child has ended `attempts` times or after
        `seconds`, Interrupted on a signal to stop.
        """
        deadline = time.monotonic() + seconds
        pending = list(names)
        while True:
            for name in list(pending):
                child = self.children[name]
                if child.failures >= attempts:
                    lines = list(child.tail)
                    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
                    reason = child.spec.explain(lines) if child.spec.explain else None
                    raise OperatorError(reason or f"{name} could not be started: {last}")
                if child.process is not None and (child.spec.ready is None or child.spec.ready()):
                    pending.remove(name)
            if not pending:
                return
            if time.monotonic() > deadline:
                raise OperatorError(f"{', '.join(pending)} did not answer within {seconds:.0f} s: see the lines above.")
            self.turn(0.03)
            if self.signals:
                raise Interrupted

    def wait_for_exit(self, spec: ProcessSpec) -> int:
        """Run a child once, until it ends, and return its exit code. Raises Interrupted on a signal to stop."""
        child = self.children[spec.name] = Child(spec, once=True)
        self._launch(child)
        while child.process is not None:
            self.turn(0.5)
            if self.signals:
                raise Interrupted
        del self.children[spec.name]
        return child.code

    def run(self) -> None:
        """Keep everything running until a signal to stop; SIGHUP makes our own processes load their programs again."""
        while not self.signals:
            if self._reloading:
                self._reloading = False
                self.console.line("run", "SIGHUP: every process goes on with the program as it is now.")
                for child in self.children.values():
                    if child.spec.reload_signal:
                        child.send(child.spec.reload_signal)
            self.turn(60.0)

    def turn(self, seconds: float) -> None:
        """Wait at most `seconds` for output and signals, and handle them. Restart children that have ended or hang."""
        children = self.children.values()
        due = [child.due - time.monotonic() for child in children if child.due is not None]
        timeout = max(0.0, min([seconds, LOOK_SECONDS, *due]))
        outputs = {child.output: child for child in children if child.output is not None}
        heartbeats = {child.heartbeat: child for child in children if child.heartbeat is not None}
        writers = [self.console.fd] if self.console.pending else []
        readable, writable, _ = select.select([self._wakeup, *outputs, *heartbeats], writers, [], timeout)
        self._awake.look()
        if self._wakeup in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wakeup, 4096)
        for fd in readable:
            if fd in outputs:
                self._read(outputs[fd])
            elif fd in heartbeats:
                self._read_heartbeat(heartbeats[fd])
        if writable:
            self.console.write_some()
        for child in children:
            self._kill_if_hung(child)
            self._reap(child)
            restarts = not (self._stopping or self.signals)
            if restarts and child.due is not None and child.due <= time.monotonic():
                self._launch(child)

    def _read_heartbeat(self, child: Child) -> None:
        if child.heartbeat is None:  # closed a moment ago, together with the child's output
            return
        with contextlib.suppress(BlockingIOError):
            if os.read(child.heartbeat, 4096):
                child.has_shown_life, child.last_sign = True, self._awake.seconds
            else:
                os.close(child.heartbeat)
                child.heartbeat = None

    def _kill_if_hung(self, child: Child) -> None:
        """Kill a child that neither sends heartbeats nor passes its check; it is restarted like every child that ends."""
        now = self._awake.seconds
        if child.process is None or child.spec.silence is None:
            return
        if child.spec.alive is not None and now - child.last_check >= ASKING_SECONDS:
            child.last_check = now
            if child.spec.alive():
                child.has_shown_life, child.last_sign = True, now
        silence = child.spec.silence if child.has_shown_life else START_SECONDS
        if now - child.last_sign >= silence and child.is_running:
            self.console.line("run", f"{child.spec.name} gives no sign of life and is killed.")
            child.send(signal.SIGKILL)
            child.last_sign = now

    def _read(self, child: Child) -> None:
        for _ in range(16):  # at most a megabyte per turn: a child with much output must not delay the others
            if child.output is None:
                return
            try:
                data = os.read(child.output, 65536)
            except BlockingIOError:
                return
            if not data:
                self._close(child)
            *lines, child.unread = (child.unread + data).split(b"\n")
            if len(child.unread) > _LONGEST_LINE:
                lines.append(child.unread)
                child.unread = b""
            for line in lines:
                self._print_line(child, line)

    def _print_line(self, child: Child, line: bytes) -> None:
        text = line[:_LONGEST_LINE].decode(errors="replace").rstrip()
        if text:
            child.tail.append(text)
            if not any(phrase in text for phrase in child.spec.hushed):
                self.console.line(child.spec.name, text)

    def _close(self, child: Child) -> None:
        if child.unread:
            self._print_line(child, child.unread)
            child.unread = b""
        if child.process is not None and child.process.stdout is not None:
            child.process.stdout.close()
            child.output = None
        if child.heartbeat is not None:
            os.close(child.heartbeat)
            child.heartbeat = None

    def _reap(self, child: Child) -> None:
        if child.process is None or child.is_running:
            return
        child.code = end_group(child.process)
        self._read(child)
        self._close(child)
        child.process = None
        self._plan_restart(child, describe_exit(child.code))

    def _plan_restart(self, child: Child, reason: str) -> None:
        if self._stopping or child.once:
            return
        now = time.monotonic()
        if now - child.started >= STABLE_AFTER:
            child.failures = 0
        delay = restart_delay(child.failures)
        child.failures += 1
        child.due = now + delay
        self.console.line("run", f"{child.spec.name} {reason}; it starts again in {delay:g} s.")

    def stop(self, grace: float = 5.0, last_grace: float = 3.0) -> None:
        """Stop everything within little more than `grace + last_grace` seconds, PostgreSQL and Valkey after the others.

        A further signal during the wait kills the remaining children immediately.
        """
        self._stopping = True
        self._stop([child for name, child in self.children.items() if name not in _LAST_STOPPED], grace)
        self._stop([child for name, child in self.children.items() if name in _LAST_STOPPED], last_grace)

    def _stop(self, children: Sequence[Child], grace: float) -> None:
        received = len(self.signals)
        for child in children:
            child.due = None
            child.send(child.spec.stop_signal)
        deadline = time.monotonic() + grace
        while any(child.process for child in children) and (left := deadline - time.monotonic()) > 0:
            if len(self.signals) > received:
                break
            self.turn(min(left, 0.2))
        for child in children:
            if child.process is not None:
                self.console.line("run", f"{child.spec.name} did not end in time and is killed.")
                end_group(child.process)
                self._close(child)
                child.process = None
