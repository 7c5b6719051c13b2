"""One client's connection: whole requests go to a thread one after another, their answers out; and how long that may take."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from social.api import later
from social.runtime.web import answers
from social.runtime.web.exchange import Exchange, Question
from social.runtime.web.reader import RequestReader
from social.runtime.web.writer import AnswerWriter

if TYPE_CHECKING:
    from social.runtime.web.server import Server

_LINGER_SECONDS = 2.0


class Connection(asyncio.Protocol):
    """Has the requests of one client answered in their order.

    Everything here runs in the event loop's thread, except `answer_here`: the thread that made an answer also writes it
    where nothing stands in the way, and the loop learns of it when it next has something to do.
    """

    __slots__ = (
        "_active",
        "_deadline",
        "_descriptor",
        "_descriptor_lock",
        "_eof",
        "_lingering",
        "_queue",
        "_reader",
        "_writer",
        "base",
        "peer",
        "refused",
        "server",
        "transport",
    )

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.base: dict[str, Any] = {}
        self.peer = ""
        self.refused: bytes | None = None
        """The answer to a request that is not taken; nothing is read behind it."""
        # Made with the connection: nothing asks for them before.
        self._reader: RequestReader = None  # type: ignore[assignment]
        self._writer: AnswerWriter = None  # type: ignore[assignment]
        self._active: Exchange | None = None
        self._queue: deque[Exchange] = deque()
        self._lingering = False
        self._eof = False
        self._deadline = 0.0
        self._descriptor = -1
        # The number of a socket that is closed is soon another client's: nobody writes without this lock.
        self._descriptor_lock = threading.Lock()

    # --- the transport ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = cast(asyncio.Transport, transport)
        self._writer = AnswerWriter(self.server, self.transport)
        self._descriptor = self.transport.get_extra_info("socket").fileno()
        self.server.settle()
        admitted = self.server.admit(self)
        self._reader = RequestReader(self, self.base)
        if admitted:
            self._deadline = self.server.now() + self.server.limits.head_seconds
        else:
            self.refuse(503, answers.BUSY, 5)
            self.say_refusal()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone, or we ended it."""
        with self._descriptor_lock:
            self._descriptor = -1
        self.server.settle()
        self._reader.abandon()
        self._writer.wake()
        self.server.leave(self)
        if self._active is not None:
            self._active.abandoned = True
        for exchange in self._queue:
            exchange.abandoned = True
            self.server.release(exchange)
        self._queue.clear()

    def eof_received(self) -> bool:
        """The client sends no more; it may still be waiting for its answer."""
        self._eof = True
        self.server.settle()
        return self._active is not None and not self._lingering

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._writer.blocked = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self._writer.wake()
        if self._active is None:
            self._next()

    def data_received(self, data: bytes) -> None:
        """The next bytes of requests."""
        self.server.settle()
        self._reader.feed(data)

    # --- requests --------------------------------------------------------------------------------------------------

    def accept(self, exchange: Exchange) -> None:
        """A whole request has arrived."""
        self._queue.append(exchange)
        if self._active is not None:
            # Its thread may have finished before it could see that another request waits.
            self.server.settle()
        if self._active is None:
            self._next()
        elif len(self._queue) > self.server.limits.pipelined:
            self._reader.stop()  # nobody who means well sends so many ahead: those that were taken are answered
            self._queue[-1].answer_closes = True

    def invite(self) -> None:
        """A client waits to be asked for a body: behind its earlier answers, into which the words would fall otherwise."""
        self.server.settle()
        if self._active is None:
            self._next()

    def _next(self) -> None:
        """Have the next request answered, or wait for one."""
        if self._writer.blocked or self.transport.is_closing():
            return
        if self._queue:
            exchange = self._active = self._queue.popleft()
            if not self.server.submit(exchange):
                self._active = None
                self.server.release(exchange)
                self.refuse(503, answers.BUSY, 1)
                self.say_refusal()
        elif self.refused is not None:
            self.say_refusal()
        elif self._eof:
            self.transport.close()
        elif self._reader.incoming is None:
            self._deadline = self.server.now() + self.server.limits.idle_seconds
            self.server.waiting(self)
        else:
            self._reader.invite()

    def answer_here(self, exchange: Exchange, answer: answers.Answer) -> bool:
        """Write an answer in the thread that made it; False where that is for the event loop.

        The loop is not woken for what it need not do at once: that costs as much as the rest of a small request.
        """
        server = self.server
        if answer.file is not None or answer.pending is not None or exchange.answer_closes or server.stopping:
            return False
        with self._descriptor_lock:
            if self._descriptor < 0 or self.transport.get_write_buffer_size():
                return False
            try:
                written = os.write(self._descriptor, answer.data)
            except OSError:  # the loop waits until the client takes more, or finds out that it has gone
                return False
        if written < len(answer.data):
            rest = answers.Answer(answer.data[written:])
            server.loop.call_soon_threadsafe(self.answered, exchange, rest)
            return True
        server.finished.append(exchange)
        # Asked behind the line above, as the loop settles behind each of these: one of the two sees the other.
        waited_for = self._queue or self._eof or self._reader.waits or self.refused is not None
        if waited_for or exchange.body is not None or server.stopping:
            server.loop.call_soon_threadsafe(server.settle)
        return True

    def settle(self, exchange: Exchange) -> None:
        """An answer has been written in its thread."""
        self.server.answered(exchange)
        self._done(exchange)

    def answered(self, exchange: Exchange, answer: answers.Answer | None) -> None:
        """A thread has made the answer (None: nobody waits for it)."""
        self.server.answered(exchange)
        if answer is None or self.transport.is_closing():
            if answer is not None and answer.file is not None:
                os.close(answer.file[0])
            self._active = None
            return
        if answer.pending is not None:
            self.server.spawn(self._wait(exchange, answer, answer.pending))
        else:
            self._send(exchange, answer)

    async def _wait(self, exchange: Exchange, answer: answers.Answer, pending: answers.Pending) -> None:
        """Ask for an answer that was put off until it is there, its time is over, or nobody waits for it."""
        server, found = self.server, None
        end, pause = server.now() + pending.seconds, later.FIRST_PAUSE
        while found is None and not exchange.abandoned and not server.stopping and server.now() + pause < end:
            await asyncio.sleep(pause)
            pause = min(pause * 2, later.LONGEST_PAUSE)
            asked: asyncio.Future[answers.Answer | None] = server.loop.create_future()
            if server.requests.submit(Question(server, pending, asked.set_result)):
                found = await asked
        if exchange.abandoned or self.transport.is_closing():
            self._active = None
        else:
            self._send(exchange, found or answer)

    def _send(self, exchange: Exchange, answer: answers.Answer) -> None:
        self._writer.write(answer.data)
        if answer.file is None:
            self._done(exchange)
        else:
            self.server.spawn(self._send_file(exchange, *answer.file))

    async def _send_file(self, exchange: Exchange, descriptor: int, offset: int, size: int) -> None:
        await self._writer.send_file(descriptor, offset, size)
        self._done(exchange)

    def _done(self, exchange: Exchange) -> None:
        self._active = None
        if self.transport.is_closing():
            return
        if exchange.answer_closes or self.server.stopping:
            self._reader.stop()
            self.transport.close()
        else:
            self._next()

    # --- refusals --------------------------------------------------------------------------------------------------

    def refuse(self, status: int, text: str, retry_after: int | None = None) -> None:
        """Take no more requests; `say_refusal` answers why. The first reason stands."""
        if self.refused is None:
            self.server.note_refusal(status)
            self.refused = answers.refusal(status, text, retry_after)

    def say_refusal(self) -> None:
        """Answer a refusal behind what is being answered, then close when the client has had the time to read it."""
        self._reader.stop()
        self._reader.drop()
        self.server.settle()
        if self._active is not None or self._lingering or self.refused is None:
            return
        self._lingering = True
        self.server.working(self)
        self._deadline = self.server.now() + _LINGER_SECONDS
        self.transport.write(self.refused)
        # A close with unread bytes is a reset, which takes the answer with it: what still comes is thrown away.
        if self.transport.can_write_eof():
            self.transport.write_eof()

    # --- time ------------------------------------------------------------------------------------------------------

    def close_idle(self) -> None:
        """End the connection, unless it is in the middle of something."""
        if self._active is None and not self._lingering and not self._queue:
            self.transport.close()

    def evict(self) -> None:
        """End the connection at once; what the client has not taken is thrown away."""
        with contextlib.suppress(OSError, AttributeError):
            own = socket.socket(fileno=os.dup(self.transport.get_extra_info("socket").fileno()))
            # Without this the kernel would keep its part of an answer for as long as the client likes.
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            own.close()
        self.transport.abort()

    def check(self, now: float) -> None:
        """End what takes too long; called every second."""
        if self._writer.is_stalled(now):
            self.evict()
        if self._lingering:
            if now > self._deadline:
                self.evict()
        elif self._reader.incoming is None:
            if self._active is None and not self._queue and not self._writer.blocked and now > self._deadline:
                self.transport.close()
        elif self._reader.is_late(now):
            self.refuse(408, "Request Timeout")
            self.say_refusal()
