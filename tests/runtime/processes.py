"""What tests of processes share: waiting, looking, and ending only what they started."""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")


#: Seconds, many times what anything waited for here takes on a machine that does other things too.
PATIENCE = 180.0


def eventually(look: Callable[[], T], seconds: float = PATIENCE) -> T:
    """The first truthy answer of `look`; fails the test when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {look}"
        time.sleep(0.02)
    return found


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descendants(pid: int) -> set[int]:
    """All living processes below `pid`."""
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
        """What it has said so far."""
        return self.log.read_text(errors="replace")

    def says(self, words: str, seconds: float = PATIENCE) -> str:
        """Wait until it has said `words`."""

        def look() -> bool:
            return words in self.text() or self.process.poll() is not None

        try:
            eventually(look, seconds)
        finally:
            assert words in self.text(), f"never said {words!r}:\n{self.text()[-4000:]}"
        return self.text()

    def end(self, signum: int = signal.SIGTERM) -> set[str]:
        """Send the signal and wait for the end; which processes below a supervisor did not end in time and were killed."""
        self.process.send_signal(signum)
        self.process.wait(PATIENCE)
        return set(re.findall(r"(\w+) did not end in time and is killed", self.text()))


@contextlib.contextmanager
def running(
    command: list[str], log: Path, environment: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> Iterator[Running]:
    """Run it, and end it with everything below it when the test is over."""
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


def free_ports() -> dict[str, str]:
    """Two ports nobody listens on, as settings."""
    with socket.socket() as one, socket.socket() as two:
        for listener in (one, two):
            listener.bind(("127.0.0.1", 0))
        return {"PORT": str(one.getsockname()[1]), "STREAMING_PORT": str(two.getsockname()[1])}


def fresh_folder() -> Path:
    """A folder for a data directory, with a path that is short enough for sockets and open to PostgreSQL's user."""
    folder = Path(tempfile.mkdtemp(prefix="social-v-"))
    folder.chmod(0o755)
    return folder


def clean_environment(**values: str) -> dict[str, str]:
    """The environment of a person who has configured nothing, with `values`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return kept | values


def manage(*arguments: str, environment: dict[str, str], seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )
