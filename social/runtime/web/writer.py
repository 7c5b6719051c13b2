"""Writes the answers of one connection as quickly as its client takes them, and tells whether it takes them at all."""

from __future__ import annotations

import asyncio
import os
import struct
import sys
from typing import TYPE_CHECKING

from social.runtime.web import answers

if sys.platform == "linux":
    import fcntl
    import termios

if TYPE_CHECKING:
    from social.runtime.web.server import Server

_CHUNK = 256 * 1024


class AnswerWriter:
    """Everything here runs in the event loop's thread."""

    __slots__ = ("_checkpoint", "_server", "_transport", "_writable", "_written", "blocked")

    def __init__(self, server: Server, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=_CHUNK, low=_CHUNK // 4)
        self.blocked = False
        """Whether the client reads more slowly than we write."""
        self._server = server
        self._transport = transport
        self._written = 0
        self._checkpoint: tuple[float, int] | None = None
        self._writable: asyncio.Future[None] | None = None

    def write(self, data: bytes) -> None:
        """Send bytes, or keep them until the client takes them."""
        self._written += len(data)
        self._transport.write(data)

    def wake(self) -> None:
        """The client has caught up, or has gone."""
        self.blocked = False
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    async def send_file(self, descriptor: int, offset: int, size: int) -> None:
        """Send a part of a file, one chunk in memory, read by another thread; closes the descriptor.

        The connection is ended when the file has become shorter, or cannot be read: the promised length cannot be kept.
        """
        place, end = offset, offset + size
        try:
            while place < end and not self._transport.is_closing():
                if self.blocked:
                    self._writable = self._server.loop.create_future()
                    await self._writable
                    continue
                chunk = await self._server.in_file_thread(os.pread, descriptor, min(_CHUNK, end - place), place)
                if not chunk or self._transport.is_closing():  # the client may have gone while the chunk was read
                    break
                place += len(chunk)
                self.write(chunk)
        except OSError:
            answers.logger.exception("a file could not be read")
        finally:
            os.close(descriptor)
        if place < end:
            self._transport.abort()

    def is_stalled(self, now: float) -> bool:
        """Whether the client takes its answer more slowly than it must; asked every second."""
        if not self._transport.get_write_buffer_size():
            self._checkpoint = None
            return False
        limits = self._server.limits
        taken = self._written - self._transport.get_write_buffer_size() - self._in_kernel()
        if self._checkpoint is None or self._checkpoint[1] > taken:
            self._checkpoint = now, taken
            return False
        since, before = self._checkpoint
        if now - since < limits.read_window:
            return False
        self._checkpoint = now, taken
        return taken - before < limits.read_rate * limits.read_window

    def _in_kernel(self) -> int:
        """Bytes that wait in the kernel for the client to take them."""
        if sys.platform != "linux":
            return 0
        try:
            raw = fcntl.ioctl(self._transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0" * 4)
        except (OSError, AttributeError):
            return 0
        return int(struct.unpack("i", raw)[0])
