"""Very many WebSocket clients in one event loop that cost little themselves: they note which post came when."""

from __future__ import annotations

import asyncio
import base64
import os
import re
import socket
import struct
import time
from typing import Final

_NUMBER: Final = re.compile(rb"Stream probe (\d+)")
_TEXT, _CLOSE, _PING = 1, 8, 9


class Listener(asyncio.Protocol):
    """One client. `seen` has by post when it came and whether it was marked by a filter; `closed` the code of a close."""

    def __init__(self, address: str, path: str, *, slow: bool = False) -> None:
        self.address, self.path, self.slow = address, path, slow
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.seen: dict[int, tuple[float, bool]] = {}
        self.repeated = 0
        self.closed: int | None = None
        self.lost = False
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade (RFC 6455 section 4.1)."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: {self.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Frames of a server have no mask (RFC 6455 section 5.1)."""
        now = time.perf_counter()
        self._buffer += data
        if not self.opened.done() and not self._take_answer():
            return
        buffer = self._buffer
        while len(buffer) >= 2:
            size, begin = buffer[1] & 127, 2
            if size == 126:
                if len(buffer) < 4:
                    return
                (size,), begin = struct.unpack_from(">H", buffer, 2), 4
            elif size == 127:
                if len(buffer) < 10:
                    return
                (size,), begin = struct.unpack_from(">Q", buffer, 2), 10
            if len(buffer) < begin + size:
                return
            self._take(buffer[0] & 15, bytes(buffer[begin : begin + size]), now)
            del buffer[: begin + size]

    def _take_answer(self) -> bool:
        head, end, _rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not end:
            return False
        if not head.startswith(b"HTTP/1.1 101"):
            self.opened.set_exception(ConnectionError(head.decode(errors="replace")[:200]))
            return False
        del self._buffer[: len(head) + 4]
        self.opened.set_result(None)
        if self.slow and self._transport is not None:
            self._transport.pause_reading()
        return True

    def _take(self, kind: int, payload: bytes, now: float) -> None:
        if kind == _TEXT:
            found = _NUMBER.search(payload)
            if found is not None:
                number = int(found[1])
                self.repeated += number in self.seen
                self.seen[number] = now, b'filtered\\":[{' in payload
        elif kind == _PING and self._transport is not None:
            # A mask of zeros: the answer goes to our own server.
            self._transport.write(bytes([0x8A, 0x80 | len(payload)]) + bytes(4) + payload)
        elif kind == _CLOSE:
            self.closed = int.from_bytes(payload[:2])

    def connection_lost(self, error: Exception | None) -> None:
        """The server, or `end`, has ended it."""
        self.lost = True
        if not self.opened.done():
            self.opened.set_exception(error or ConnectionError("closed before the answer"))

    def read_on(self) -> None:
        """Stop being slow."""
        if self._transport is not None:
            self._transport.resume_reading()

    def end(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.abort()


async def listen(port: int, path: str, *, slow: bool = False) -> Listener:
    """Open one. A slow one has a small window, and reads nothing after the answer."""
    loop = asyncio.get_running_loop()
    client = socket.socket()
    client.setblocking(False)
    if slow:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await loop.sock_connect(client, ("127.0.0.1", port))
    _transport, listener = await loop.create_connection(
        lambda: Listener(f"localhost:{port}", path, slow=slow), sock=client
    )
    async with asyncio.timeout(60):
        await listener.opened
    return listener
