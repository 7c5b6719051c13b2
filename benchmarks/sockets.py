"""Very many WebSocket clients in a process of their own, as cheap as they can be: they note which post came when, and to whom.

One loop over epoll, one buffer for all: it costs the machine a few microseconds a delivery, nearly all of them in the kernel.
"""

from __future__ import annotations

import base64
import multiprocessing
import os
import re
import select
import socket
import struct
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

import psutil

_WORDS: Final = b"Stream probe "
_MARK: Final = b'filtered\\":[{'
_ANSWERED: Final = re.compile(rb"HTTP/1.1 101")
_TEXT, _CLOSE, _PING = 1, 8, 9
_CONCURRENCY: Final = 20
_READ_LIMIT: Final = 1 << 18


@dataclass(frozen=True)
class Came:
    """What came since the last time: by place in each array who got which post when (`time.perf_counter`), and whether it was
    marked by a filter."""

    listeners: array[int] = field(default_factory=lambda: array("l"))
    posts: array[int] = field(default_factory=lambda: array("l"))
    times: array[float] = field(default_factory=lambda: array("d"))
    marks: bytearray = field(default_factory=bytearray)


class _Client:
    def __init__(self, number: int, connection: socket.socket) -> None:
        self.number, self.socket = number, connection
        self.rest = b""
        self.closed: int | None = None
        self.lost = False


class _Reader:
    """The loop of the process."""

    def __init__(self, orders: Connection) -> None:
        self.orders = orders
        self.epoll = select.epoll()
        self.epoll.register(orders.fileno(), select.EPOLLIN)
        self.clients: dict[int, _Client] = {}
        self.slow: list[_Client] = []
        self.came = Came()

    def run(self) -> None:
        """Read, and do what is asked, until the other side goes."""
        orders = self.orders.fileno()
        while True:
            for number, _event in self.epoll.poll():
                if number != orders:
                    self.read(self.clients[number])
                    continue
                try:
                    name, *rest = self.orders.recv()
                except EOFError:
                    return
                self.orders.send(getattr(self, name)(*rest))

    def read(self, client: _Client) -> None:
        """What has come for one."""
        try:
            data = client.socket.recv(_READ_LIMIT)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        now = time.perf_counter()
        if not data:
            client.lost = True
            self.clients.pop(client.socket.fileno(), None)
            client.socket.close()
            return
        if client.rest:
            data = client.rest + data
        # Frames of a server have no mask (RFC 6455 section 5.1).
        begin, end, came = 0, len(data), self.came
        while end - begin >= 2:
            size, start = data[begin + 1] & 127, begin + 2
            if size == 126:
                if end - begin < 4:
                    break
                (size,), start = struct.unpack_from(">H", data, start), start + 2
            elif size == 127:
                if end - begin < 10:
                    break
                (size,), start = struct.unpack_from(">Q", data, start), start + 8
            if end - start < size:
                break
            kind, begin = data[begin] & 15, start + size
            if kind == _TEXT:
                place = data.find(_WORDS, start, begin)
                if place >= 0:
                    place += len(_WORDS)
                    came.listeners.append(client.number)
                    came.posts.append(int(data[place : data.index(b" ", place)]))
                    came.times.append(now)
                    came.marks.append(data.find(_MARK, start, begin) >= 0)
            elif kind == _PING:
                # A mask of zeros: the answer goes to our own server.
                client.socket.send(bytes([0x8A, 0x80 | size]) + bytes(4) + data[start:begin])
            elif kind == _CLOSE:
                client.closed = int.from_bytes(data[start : start + 2])
        client.rest = data[begin:]

    def open(self, port: int, paths: Sequence[tuple[int, str]], slow: bool) -> None:
        """Connect clients, with these numbers. Slow ones have a small window, and read nothing after the answer."""
        for place in range(0, len(paths), _CONCURRENCY):
            # Those before are read, and their pings answered: thousands take longer to open than a ping waits.
            for number, _event in self.epoll.poll(0):
                if number in self.clients:
                    self.read(self.clients[number])
            new = [_Client(number, _connect(port, path, slow)) for number, path in paths[place : place + _CONCURRENCY]]
            for client in new:
                head, _end, client.rest = _answer(client.socket).partition(b"\r\n\r\n")
                if not _ANSWERED.match(head):
                    raise ConnectionError(head.decode(errors="replace")[:200])
                client.socket.setblocking(False)
                if slow:
                    self.slow.append(client)
                else:
                    self.listen(client)

    def listen(self, client: _Client) -> None:
        """Read what comes for a client from now on."""
        self.clients[client.socket.fileno()] = client
        self.epoll.register(client.socket.fileno(), select.EPOLLIN)

    def take(self) -> Came:
        """What came, which is forgotten."""
        came, self.came = self.came, Came()
        return came

    def count(self) -> int:
        """How many posts came."""
        return len(self.came.posts)

    def listening(self) -> set[int]:
        """The numbers of clients that are connected, apart from the slow ones."""
        return {client.number for client in self.clients.values()}

    def read_on(self) -> list[int | None]:
        """Have the slow ones read all there is; the codes with which they were closed, 0 without one, None if they were not."""
        codes: list[int | None] = []
        for client in self.slow:
            client.socket.setblocking(True)
            client.socket.settimeout(2)
            while not client.lost:
                try:
                    self.read(client)
                except TimeoutError:
                    break
            codes.append((client.closed or 0) if client.lost or client.closed is not None else None)
            client.socket.close()
        self.slow.clear()
        return codes


def _connect(port: int, path: str, slow: bool) -> socket.socket:
    client = socket.socket()
    if slow:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(
        f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    return client


def _answer(client: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(4096)
        if not more:
            break
        data += more
    return data


def _run(orders: Connection) -> None:
    _Reader(orders).run()


class Listeners:
    """The process with the clients; use it as a context manager."""

    def __init__(self) -> None:
        # Not forked: it must have none of the files of this process, nor its memory.
        context = multiprocessing.get_context("spawn")
        self._orders, other = context.Pipe()
        self._process = context.Process(target=_run, args=(other,), daemon=True)
        self._process.start()
        other.close()
        assert self._process.pid is not None
        self._usage = psutil.Process(self._process.pid)

    def __enter__(self) -> Listeners:
        return self

    def __exit__(self, *_error: object) -> None:
        self._orders.close()
        self._process.join(10)
        self._process.kill()

    def _ask(self, *order: Any) -> Any:
        self._orders.send(order)
        return self._orders.recv()

    def open(self, port: int, paths: Sequence[tuple[int, str]], *, slow: bool = False) -> None:
        """Connect clients by number and path."""
        self._ask("open", port, list(paths), slow)

    def take(self) -> Came:
        """What came since the last time."""
        found: Came = self._ask("take")
        return found

    def count(self) -> int:
        """How many posts came since `take`."""
        return int(self._ask("count"))

    def listening(self) -> set[int]:
        """Who is connected."""
        found: set[int] = self._ask("listening")
        return found

    def read_on(self) -> list[int | None]:
        """Have the slow clients read on, to their end: see `_Reader.read_on`."""
        found: list[int | None] = self._ask("read_on")
        return found

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        times = self._usage.cpu_times()
        return float(times.user + times.system)
