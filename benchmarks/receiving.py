"""A server on this machine that takes whatever is sent to it, and notes when what came to which path."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Receiver:
    """Answers every request alike, after `latency` seconds, on one port of all its addresses, for as long as it is `running`.

    `came` are the moments (of `time.perf_counter`) and paths of what came.
    """

    def __init__(self, answer: bytes, *, latency: float = 0.0, addresses: Sequence[str] = ("127.0.0.1",)) -> None:
        self.came: list[tuple[float, str]] = []
        self.port = 0
        self._answer = b"HTTP/1.1 " + answer + b"\r\nContent-Length: 0\r\n\r\n"
        self._latency = latency
        self._addresses = addresses
        self._ready = threading.Event()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                _name, _colon, rest = head.partition("content-length:")
                await reader.readexactly(int(rest.partition("\r\n")[0]))
                self.came.append((time.perf_counter(), head.split(" ", 2)[1]))
                if self._latency:
                    await asyncio.sleep(self._latency)
                writer.write(self._answer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
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
    def running(self) -> Iterator[Receiver]:
        """It answers as long as the block lasts."""
        thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        thread.start()
        assert self._ready.wait(5)
        yield self
        self._loop.call_soon_threadsafe(self._end.set)
        thread.join(5)
