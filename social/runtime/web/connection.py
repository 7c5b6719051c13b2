"""Knows one client's connection: HTTP/1.1 in, whole requests to a thread, answers out; and for how long all that may take."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, cast

import httptools

from social.runtime.web import answers
from social.runtime.web.requests import Body, environ_key, path_info

if sys.platform == "linux":
    import fcntl
    import termios

if TYPE_CHECKING:
    from social.runtime.web.lanes import Lane
    from social.runtime.web.server import Server

_CHUNK = 256 * 1024
_LINGER_SECONDS = 2.0
_BUSY = "There was a temporary problem serving your request, please try again"


class Exchange:
    """One request on its way: received, waiting for a thread, answered."""

    __slots__ = (
        "abandoned",
        "address",
        "answer_closes",
        "body",
        "complete",
        "connection",
        "counted",
        "environ",
        "lane",
    )

    def __init__(self, connection: Connection, environ: dict[str, Any]) -> None:
        self.connection = connection
        self.environ = environ
        self.body: Body | None = None
        self.complete = False
        self.answer_closes = False
        self.abandoned = False
        self.address = ""
        """What is counted for the client; "" for one of our own proxies, of which nothing is counted."""
        self.counted = False
        self.lane: Lane | None = None

    def run(self) -> None:
        """Answer it, in a thread of a lane."""
        server = self.connection.server
        environ = self.environ
        answer: answers.Answer | None = None
        if not (self.abandoned and environ["REQUEST_METHOD"] in ("GET", "HEAD")):
            answer = self._answer(server.application)
        server.loop.call_soon_threadsafe(self.connection.answered, self, answer)

    def _answer(self, application: answers.Application) -> answers.Answer:
        environ = self.environ
        try:
            environ["wsgi.input"] = (self.body or _NOTHING).open()
        except OSError as error:
            answers.logger.error("a body could not be kept: %s", error)
            self.answer_closes = True
            return answers.Answer(answers.refusal(503, _BUSY, 30))
        return answers.call(application, environ, close=self.answer_closes)


_NOTHING = Body(0, None)


class Connection(asyncio.Protocol):
    """Reads requests of one client. Everything here runs in the event loop's thread."""

    __slots__ = (
        "_active",
        "_answered",
        "_blocked",
        "_checkpoint",
        "_deadline",
        "_eof",
        "_flushing",
        "_head_bytes",
        "_headers",
        "_incoming",
        "_lingering",
        "_parser",
        "_queue",
        "_refused",
        "_target",
        "_upgrading",
        "_writable",
        "_written",
        "base",
        "peer",
        "server",
        "transport",
    )

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.base: dict[str, Any] = {}
        self.peer = ""
        self._parser: httptools.HttpRequestParser | None = None
        self._incoming: Exchange | None = None
        self._active: Exchange | None = None
        self._queue: deque[Exchange] = deque()
        self._target = b""
        self._head_bytes = 0
        self._headers = 0
        self._answered = 0
        self._refused: bytes | None = None
        self._lingering = False
        self._blocked = False
        self._flushing = False
        self._written = 0
        self._checkpoint: tuple[float, int] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._eof = False
        self._upgrading = False
        self._deadline = 0.0

    # --- the transport ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = transport = cast(asyncio.Transport, transport)
        transport.set_write_buffer_limits(high=_CHUNK, low=_CHUNK // 4)
        if self.server.admit(self):
            self._parser = httptools.HttpRequestParser(self)
            self._deadline = self.server.now() + self.server.limits.head_seconds
        else:
            self._refuse(503, _BUSY, 5)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone, or we ended it."""
        self._parser = None
        self._wake_writer()
        self.server.leave(self)
        for exchange in (self._incoming, self._active, *self._queue):
            if exchange is not None:
                exchange.abandoned = True
                if exchange is not self._active and not (exchange is self._incoming and self._flushing):
                    self.server.release(exchange)
        self._queue.clear()

    def eof_received(self) -> bool:
        """The client sends no more; it may still be waiting for its answer."""
        self._eof = True
        return self._active is not None and not self._lingering

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._blocked = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self._blocked = False
        self._wake_writer()
        if self._active is None:
            self._next()

    def _wake_writer(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    def data_received(self, data: bytes) -> None:
        """The next bytes of requests."""
        parser = self._parser
        if parser is None:
            return
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(400, "Bad Request")
        if self._refused is not None:
            self._say_refusal()
        elif self._incoming is not None and self._incoming.body is not None:
            self._spill(self._incoming, self._incoming.body)

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Another protocol was offered, and none is spoken: read the body, if there is one, and answer in HTTP/1.1.

        The parser takes what follows for the other protocol, so a new one is given the head that the body needs.
        """
        exchange, self._parser = self._incoming, None
        if exchange is None or exchange.body is None or self._refused is not None:
            return
        length = exchange.environ.get("CONTENT_LENGTH")
        framing = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
        parser = httptools.HttpRequestParser(_BodyOnly(self))
        parser.feed_data(f"POST / HTTP/1.1\r\n{framing}\r\n\r\n".encode())
        self._parser, self._upgrading = parser, False
        try:
            parser.feed_data(rest)
        except httptools.HttpParserError:
            self._refuse(400, "Bad Request")

    # --- the parser ------------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        if self._incoming is not None:
            # Its body is still being written to a file. Who sends large bodies waits for the answer to one.
            self._incoming.answer_closes = True
            self._parser = None
        if self._refused is None and self._parser is not None:
            self._incoming = Exchange(self, self.base.copy())
            self._target = b""
            self._head_bytes = self._headers = 0
            self._deadline = self.server.now() + self.server.limits.head_seconds

    def on_url(self, url: bytes) -> None:
        """A part of the request's target."""
        self._target += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        self._headers += 1
        self._count_head(len(name) + len(value))
        if self._incoming is None:
            return
        key = environ_key(name)
        environ = self._incoming.environ
        # What comes behind a body in chunks is no header: nobody has checked it.
        if not key or "REQUEST_METHOD" in environ:
            return
        text = value.decode("latin-1")
        if key in environ:
            if key == "HTTP_HOST":
                self._refuse(400, "Bad Request")
            text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        limits = self.server.limits
        if self._head_bytes > limits.head or self._headers > limits.headers:
            self._refuse(431, "Request Header Fields Too Large")

    def on_headers_complete(self) -> None:
        """All headers are there: decide whether the body is wanted."""
        exchange, parser = self._incoming, self._parser
        if exchange is None or parser is None or self._refused is not None:
            return
        server = self.server
        environ = exchange.environ
        version = parser.get_http_version()
        environ["REQUEST_METHOD"] = method = parser.get_method().decode()
        environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        target = self._target
        environ["RAW_URI"] = target.decode("latin-1")
        if not target.startswith(b"/"):
            target = _origin_form(target)
        path, _, query = target.partition(b"?")
        environ["PATH_INFO"] = path_info(path)
        environ["QUERY_STRING"] = query.decode("latin-1")
        exchange.answer_closes = not parser.should_keep_alive() or "HTTP_UPGRADE" in environ
        server.working(self)
        chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
        length = environ.get("CONTENT_LENGTH")
        if chunked is None and (length is None or length == "0"):
            exchange.lane = server.requests
            return
        self._receive_body(exchange, method, int(length or 0), environ.get("HTTP_EXPECT", ""), version)

    def _receive_body(self, exchange: Exchange, method: str, length: int, expect: str, version: str) -> None:
        server = self.server
        limit, exchange.lane = server.rule(method, exchange.environ["PATH_INFO"])
        if length > limit:
            self._refuse(413, "Payload too large")
            return
        exchange.address = server.address_of(exchange.environ)
        if not server.count_body(exchange):
            self._refuse(429, "Too many requests")
            return
        exchange.body = Body(server.limits.body_in_memory, server.folder)
        self._upgrading = "HTTP_UPGRADE" in exchange.environ
        self._deadline = server.now()  # from here on the moment the body began
        if expect.lower() == "100-continue" and version == "1.1":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, data: bytes) -> None:
        """The next bytes of a body."""
        exchange = self._incoming
        if exchange is None or exchange.body is None or self._parser is None or self._refused is not None:
            return
        exchange.body.add(data)
        server = self.server
        server.body_bytes += len(data)
        if server.body_bytes > server.limits.bodies_total:
            self._refuse(503, _BUSY, 30)
        elif exchange.body.received > server.limits.body and exchange.body.received > self._limit_of(exchange):
            self._refuse(413, "Payload too large")

    def _limit_of(self, exchange: Exchange) -> int:
        return self.server.rule(exchange.environ["REQUEST_METHOD"], exchange.environ["PATH_INFO"])[0]

    def on_message_complete(self) -> None:
        """A whole request has arrived."""
        exchange = self._incoming
        if exchange is None or self._parser is None or self._refused is not None or self._upgrading:
            return
        if exchange.body is not None:
            exchange.environ["CONTENT_LENGTH"] = str(exchange.body.received)
            self.server.uncount_body(exchange)
        exchange.complete = True
        if self._flushing:
            return
        self._incoming = None
        self._accept(exchange)

    # --- requests --------------------------------------------------------------------------------------------------

    def _accept(self, exchange: Exchange) -> None:
        self._queue.append(exchange)
        if self._active is None:
            self._next()
        elif len(self._queue) > self.server.limits.pipelined:
            self._parser = None  # nobody who means well sends so many ahead: those that were taken are answered
            self._queue[-1].answer_closes = True

    def _next(self) -> None:
        """Have the next request answered, or wait for one."""
        if self._blocked or self.transport.is_closing():
            return
        if self._queue:
            exchange = self._active = self._queue.popleft()
            if not self.server.submit(exchange):
                self._active = None
                self.server.release(exchange)
                self._refuse(503, _BUSY, 1)
                self._say_refusal()
        elif self._refused is not None:
            self._say_refusal()
        elif self._eof:
            self.transport.close()
        elif self._incoming is None:
            self._deadline = self.server.now() + self.server.limits.idle_seconds
            self.server.waiting(self)

    def answered(self, exchange: Exchange, answer: answers.Answer | None) -> None:
        """A thread has made the answer (None: nobody waits for it)."""
        self.server.answered(exchange)
        if answer is None or self.transport.is_closing():
            if answer is not None and answer.file is not None:
                os.close(answer.file[0])
            self._active = None
            return
        self._write(answer.data)
        if answer.file is None:
            self._done(exchange)
        else:
            self._send_file(exchange, *answer.file)

    def _done(self, exchange: Exchange) -> None:
        self._active = None
        self._answered += 1
        if exchange.answer_closes or self.server.stopping:
            self._parser = None
            self.transport.close()
        else:
            self._next()

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    def _send_file(self, exchange: Exchange, descriptor: int, offset: int, size: int) -> None:
        """Send a part of a file as quickly as the client takes it: one piece in memory, read by another thread."""

        async def send() -> None:
            place, end = offset, offset + size
            try:
                while place < end and not self.transport.is_closing():
                    if self._blocked:
                        self._writable = self.server.loop.create_future()
                        await self._writable
                        continue
                    piece = await self.server.in_file_thread(os.pread, descriptor, min(_CHUNK, end - place), place)
                    if not piece:
                        break  # the file became shorter: the promised length cannot be kept
                    place += len(piece)
                    self._write(piece)
            except OSError:
                answers.logger.exception("a file could not be read")
            finally:
                os.close(descriptor)
            if place < end:
                self.transport.abort()
            self._done(exchange)

        self.server.spawn(send())

    def _spill(self, exchange: Exchange, body: Body) -> None:
        """Write a large body to its file, outside this thread; meanwhile nothing more is read."""
        if self._flushing or not body.spilled or (body.pending < _CHUNK and body.received > _CHUNK):
            return
        self._flushing = True
        self.transport.pause_reading()

        async def flush() -> None:
            failed = False
            try:
                await self.server.in_file_thread(body.flush)
            except OSError as error:
                answers.logger.error("a body could not be kept: %s", error)
                failed = True
            self._flushing = False
            if exchange.abandoned:
                self.server.release(exchange)
                return
            with contextlib.suppress(RuntimeError):
                self.transport.resume_reading()
            if failed:
                self._refuse(503, _BUSY, 30)
            if self._refused is not None:
                self._say_refusal()
            elif exchange.complete:
                self._incoming = None
                self._accept(exchange)

        self.server.spawn(flush())

    # --- refusals --------------------------------------------------------------------------------------------------

    def _refuse(self, status: int, text: str, retry_after: int | None = None) -> None:
        if self._refused is None:
            self.server.note_refusal(status)
            self._refused = answers.refusal(status, text, retry_after)

    def _say_refusal(self) -> None:
        """Answer a refusal behind what is being answered, then close when the client has had the time to read it."""
        self._parser = None
        if self._incoming is not None and not self._flushing:
            self.server.release(self._incoming)
            self._incoming = None
        if self._active is not None or self._lingering or self._refused is None:
            return
        self._lingering = True
        self.server.working(self)
        self._deadline = self.server.now() + _LINGER_SECONDS
        self.transport.write(self._refused)
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
        if not self.transport.get_write_buffer_size():
            self._checkpoint = None
        elif not self._reads(now):
            self.evict()
        if self._lingering:
            if now > self._deadline:
                self.evict()
        elif self._incoming is None:
            if self._active is None and not self._queue and not self._blocked and now > self._deadline:
                self.transport.close()
        elif self._incoming.body is None:
            if now > self._deadline:
                self._refuse(408, "Request Timeout")
                self._say_refusal()
        elif not self._flushing and not self._incoming.complete:
            limits = self.server.limits
            allowed = limits.body_grace + self._incoming.body.received / limits.body_rate
            if now - self._deadline > min(allowed, limits.body_longest):
                self._refuse(408, "Request Timeout")
                self._say_refusal()

    def _reads(self, now: float) -> bool:
        """Whether the client takes its answer quickly enough."""
        limits = self.server.limits
        taken = self._written - self.transport.get_write_buffer_size() - self._in_kernel()
        if self._checkpoint is None or self._checkpoint[1] > taken:
            self._checkpoint = now, taken
            return True
        since, before = self._checkpoint
        if now - since < limits.read_window:
            return True
        self._checkpoint = now, taken
        return taken - before >= limits.read_rate * limits.read_window

    def _in_kernel(self) -> int:
        """Bytes that wait in the kernel for the client to take them."""
        if sys.platform != "linux":
            return 0
        try:
            raw = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, b"\0" * 4)
        except (OSError, AttributeError):
            return 0
        return int(struct.unpack("i", raw)[0])


class _BodyOnly:
    """Passes on what a parser finds of a body."""

    def __init__(self, connection: Connection) -> None:
        self.on_body = connection.on_body
        self.on_message_complete = connection.on_message_complete


def _origin_form(target: bytes) -> bytes:
    """`/path?query` of an absolute target (RFC 9112 section 3.2.2)."""
    if b"://" not in target:
        return target
    rest = target.partition(b"://")[2]
    cut = min((place for place in (rest.find(b"/"), rest.find(b"?")) if place >= 0), default=len(rest))
    found = rest[cut:]
    return found if found.startswith(b"/") else b"/" + found
