"""A server on this machine with many addresses, which accepts every request and records its time and address."""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Manner:
    """The behaviour of a server: its response (a status line and further headers), and the delay in seconds. If the response is
    empty, the server closes the connection instead.
    """

    answer: bytes = b"202 Accepted"
    seconds: float = 0.0


@dataclass(frozen=True)
class Came:
    """A recorded request: the value of `time.perf_counter`, its address, path and body."""

    at: float
    address: str
    path: str
    body: bytes


class Receiver:
    """Responds to every request on one port of all its addresses, while it is `running`.

    The server has no documents: a GET gets 404, and is not recorded. `manners` contains the behaviour of single addresses, and
    `manner` is the behaviour of all others; both may be changed while the server runs.
    """

    def __init__(self, manner: Manner | None = None, *, addresses: Sequence[str] = ("127.0.0.1",)) -> None:
        self.came: list[Came] = []
        self.port = 0
        self.manner = manner or Manner()
        self.manners: Mapping[str, Manner] = {}
        self._addresses = addresses
        self._ready = threading.Event()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = str(writer.get_extra_info("sockname")[0])
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, _rest = head.split(" ", 2)
                _name, _colon, rest = head.lower().partition("content-length:")
                body = await reader.readexactly(int(rest.partition("\r\n")[0] or 0))
                manner = self.manners.get(address, self.manner)
                if method == "POST":
                    self.came.append(Came(time.perf_counter(), address, path, body))
                elif manner.answer.startswith(b"2"):
                    manner = replace(manner, answer=b"404 Not Found")
                if manner.seconds:
                    await asyncio.sleep(manner.seconds)
                if not manner.answer:
                    break
                writer.write(b"HTTP/1.1 " + manner.answer + b"\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _run(self) -> None:
        first, *others = self._addresses
        servers = [await asyncio.start_server(self._serve, first, 0)]
        self.port = servers[0].sockets[0].getsockname()[1]
        servers += [await asyncio.start_server(self._serve, address, self.port) for address in others]
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._end.wait()
        for server in servers:
            server.close()

    @contextmanager
    def running(self) -> "Iterator[Receiver]":
        """Respond to requests during the block."""
        thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        thread.start()
        assert self._ready.wait(10)
        yield self
        self._loop.call_soon_threadsafe(self._end.set)
        thread.join(5)
