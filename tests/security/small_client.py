"""A client that connects to a `small_server` through sockets, as friendly and hostile clients do."""

import contextlib
import http.client
import itertools
import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.runtime.processes import PATIENCE, Running, descendants, eventually

FILE_SIZE = 7 * 2**20
#: All limits are longer than PATIENCE, so no limit ends a request within PATIENCE; therefore a response within PATIENCE did not
#: wait for a blocked request.
ENDLESS = dict.fromkeys(("body_grace", "body_longest", "read_seconds", "head_seconds"), 100 * PATIENCE)


class Small:
    """A running `small_server`."""

    def __init__(self, port: int, process: Running, held: Path) -> None:
        self.port, self.process, self._held = port, process, held
        self._stack = contextlib.ExitStack()

    def connect(self, data: bytes = b"", **options: int) -> socket.socket:
        """Open a connection and send `data`; it is closed at the end of the test."""
        client = socket.socket()
        for name, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        self._stack.callback(client.close)
        if data:
            client.sendall(data)
        return client

    def get(self, path: str = "/", **headers: str) -> http.client.HTTPResponse:
        """Return the response to a GET on a new connection."""
        return self.ask("GET", path, headers=headers)

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> http.client.HTTPResponse:
        """Return the response to a request on a new connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._stack.callback(connection.close)
        connection.request(method, path, body, **options)
        return connection.getresponse()

    def serves_others(self, count: int = 10) -> bool:
        """Return whether this many consecutive requests succeed, each within PATIENCE."""
        return all(self.get().status == 200 for _number in range(count))

    @contextlib.contextmanager
    def holding(self) -> Iterator[Callable[[bytes], socket.socket]]:
        """Let requests for /hold and /upload/hold last as long as the block; the yielded function sends one such request, which
        occupies a thread.
        """
        before = self.process.text().count("a request is held")
        sent = itertools.count(before + 1)
        self._held.touch()

        def hold(request: bytes) -> socket.socket:
            client, number = self.connect(request), next(sent)
            eventually(lambda: self.process.text().count("a request is held") >= number)
            return client

        try:
            yield hold
        finally:
            self._held.unlink()

    def descriptors(self) -> int:
        """Return how many files and sockets the first process of the server has open."""
        return len(list(Path(f"/proc/{min(descendants(self.process.pid))}/fd").iterdir()))

    def answers(self) -> bool:
        """Return whether the server responds."""
        with contextlib.suppress(OSError):
            return self.get().status == 200
        return False

    def close(self) -> None:
        self._stack.close()


def first_line(client: socket.socket) -> bytes:
    """Return the status line of a response, or b"" if the connection was closed without one."""
    with contextlib.suppress(ConnectionError):
        return client.recv(65536).partition(b"\r\n")[0]
    return b""


def read_until(client: socket.socket, end: bytes) -> bytes:
    """Return the bytes that the server sends up to `end`, or until it closes."""
    found = b""
    while not found.endswith(end) and (data := client.recv(65536)):
        found += data
    return found


def is_closed(client: socket.socket) -> bool:
    """Return whether the server has closed the connection."""
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def is_readable(client: socket.socket) -> bool:
    """Return whether a response has begun, without reading it."""
    return bool(select.select([client], [], [], 0)[0])
