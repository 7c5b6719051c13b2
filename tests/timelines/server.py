"""Runs the streaming process, as `manage.py run` does, on the test's database and Valkey."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class StreamingServer:
    """A running streaming process."""

    port: int
    process: subprocess.Popen[bytes]
    memory: Path | None = None

    @property
    def http(self) -> str:
        """Return the base address of its event streams."""
        return f"http://127.0.0.1:{self.port}/api/v1/streaming"

    @property
    def ws(self) -> str:
        """Return the base address of its sockets."""
        return f"ws://127.0.0.1:{self.port}/api/v1/streaming"

    def most_memory(self) -> int:
        """Return the peak total size of all objects, in bytes, since the last call; only for a `traced` process."""
        return self._memory()[0]

    def kept_memory(self) -> int:
        """Return the size in bytes of the objects that are still in use; only for a `traced` process."""
        return self._memory()[1]

    def _memory(self) -> list[int]:
        assert self.memory is not None
        self.memory.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + 30
        while not self.memory.exists():
            assert time.monotonic() < deadline, "the server does not respond"
            time.sleep(0.01)
        return [int(number) for number in self.memory.read_text().split()]


# The sizes of objects are counted, because the memory that the process requests depends on what was free before.
_TRACED = """
import gc, os, signal, tracemalloc
def report(*_signal):
    most = tracemalloc.get_traced_memory()[1]
    gc.collect()
    with open({path!r} + ".new", "w") as file:
        file.write(f"{{most}} {{tracemalloc.get_traced_memory()[0]}}")
    os.rename({path!r} + ".new", {path!r})
    tracemalloc.reset_peak()
signal.signal(signal.SIGUSR1, report)
tracemalloc.start()
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def streaming_server(
    log: Path,
    *,
    ping: float | None = None,
    request: float | None = None,
    abort: float | None = None,
    traced: bool = False,
) -> Iterator[StreamingServer]:
    """Run the streaming process during the block.

    `ping`: seconds between pings instead of thirty; `request`: seconds for a request instead of ten; `abort`: seconds for
    reading the rest of a request instead of five; `traced`: whether it reports how much memory its objects take.
    """
    port, database = _free_port(), connection.settings_dict
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "social.settings.base",
        "DATABASE_URL": f"postgres://{database['USER']}@{quote(database['HOST'], safe='')}/{database['NAME']}",
        "REDIS_URL": settings.REDIS_URLS["streams"],
        "STREAMING_PORT": str(port),
        "LOG_LEVEL": "warning",
    }
    change = f"asgi.PING_SECONDS = {ping}; " if ping else ""
    if request:
        change += f"from timelines.consumers import transports; transports.REQUEST_SECONDS = {request}; "
    if abort:
        change += f"from timelines.consumers import transports; transports.ABORT_SECONDS = {abort}; "
    memory = log.with_suffix(".memory") if traced else None
    trace = _TRACED.format(path=str(memory)) if traced else ""
    command = [sys.executable, "-c", f"from social import asgi; {change}{trace}\nasgi.serve()"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        server = StreamingServer(port, process, memory)
        try:
            _wait(server, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(server: StreamingServer, log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise AssertionError(log.read_text())
        try:
            with urllib.request.urlopen(f"{server.http}/health", timeout=1) as answer:
                assert answer.read() == b"OK"
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())
