"""Helpers for tests of processes: waiting, inspecting, and ending the processes that they started."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")


#: In seconds; many times longer than any wait usually takes, because the machine may be busy.
PATIENCE = 180.0
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def eventually(look: Callable[[], T], seconds: float = PATIENCE) -> T:
    """Return the first true value of `look`; fail the test if there is none in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not true within {seconds} s: {look}"
        time.sleep(0.02)
    return found


def is_alive(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descendants(pid: int) -> set[int]:
    """Return all living processes below `pid`."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(folder.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


class Running:
    """A process whose output is collected in a file."""

    def __init__(
        self, command: list[str], log: Path, environment: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL
    ) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=environment, stdin=stdin
            )
        self.pid = self.process.pid

    def text(self) -> str:
        """Return the output so far."""
        return self.log.read_text(errors="replace")

    def says(self, words: str, seconds: float = PATIENCE) -> str:
        """Wait until the output contains `words`, and return the output."""

        def look() -> bool:
            return words in self.text() or self.process.poll() is not None

        try:
            eventually(look, seconds)
        finally:
            assert words in self.text(), f"never printed {words!r}:\n{self.text()[-4000:]}"
        return self.text()

    def end(self, signum: int = signal.SIGTERM) -> set[str]:
        """Send the signal, wait for the end, and return the child processes that did not end in time and were killed."""
        self.process.send_signal(signum)
        self.process.wait(PATIENCE)
        return set(re.findall(r"(\w+) did not end in time and is killed", self.text()))


@contextlib.contextmanager
def running(
    command: list[str], log: Path, environment: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> Iterator[Running]:
    """Run a command, and kill it with all its child processes at the end of the block."""
    found = Running(command, log, environment, stdin)
    try:
        yield found
    finally:
        below = descendants(found.pid)
        for pid in (found.pid, *below):
            if found.process.poll() is None or pid != found.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        found.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_ports() -> dict[str, str]:
    """Return two free ports, as settings."""
    with socket.socket() as one, socket.socket() as two:
        for listener in (one, two):
            listener.bind(("127.0.0.1", 0))
        return {"PORT": str(one.getsockname()[1]), "STREAMING_PORT": str(two.getsockname()[1])}


def fresh_folder() -> Path:
    """Create a folder for a data directory; its path is short enough for sockets, and PostgreSQL's user can access it."""
    folder = Path(tempfile.mkdtemp(prefix="social-v-"))
    folder.chmod(0o755)
    return folder


def clean_environment(**values: str) -> dict[str, str]:
    """Return the environment of an operator who has configured nothing except `values`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | values


def python(*arguments: str, environment: dict[str, str], seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )


def manage(*arguments: str, environment: dict[str, str], seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    return python("manage.py", *arguments, environment=environment, seconds=seconds)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """Return the only line of the output of a command that was refused."""
    assert (done.returncode, done.stdout) == (1, ""), done
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]
