"""Reads the requests of one connection, HTTP/1.1: heads and bodies, within the limits of the server."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import httptools

from social.runtime.web import answers
from social.runtime.web.exchange import Exchange
from social.runtime.web.requests import Body, environ_key, origin_form, path_info

if TYPE_CHECKING:
    from social.runtime.web.connection import Connection

_CHUNK = 256 * 1024


class RequestReader:
    """Takes the bytes of a client, hands whole requests to `Connection.accept` and errors to `Connection.refuse`.

    `base` is what the environments of all its requests have in common. Everything here runs in the event loop's thread.
    """

    __slots__ = (
        "_base",
        "_connection",
        "_flushing",
        "_head_bytes",
        "_headers",
        "_parser",
        "_server",
        "_since",
        "_target",
        "_upgrading",
        "incoming",
        "waits",
    )

    def __init__(self, connection: Connection, base: dict[str, Any]) -> None:
        self.incoming: Exchange | None = None
        """The request whose end has not arrived."""
        self._connection = connection
        self._server = connection.server
        self._base = base
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._target = b""
        self._head_bytes = 0
        self._headers = 0
        self._since = 0.0
        """When the head began to arrive, or the body."""
        self._flushing = False
        self._upgrading = False
        self.waits = False
        """Whether the client does not send the body before it is asked to."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; after `stop` they are thrown away."""
        parser = self._parser
        if parser is None:
            return
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._connection.refuse(400, "Bad Request")
        if self._connection.refused is not None:
            self._connection.say_refusal()
        elif self.incoming is not None and self.incoming.body is not None:
            self._spill(self.incoming, self.incoming.body)

    def stop(self) -> None:
        """Read nothing more."""
        self._parser = None

    def drop(self) -> None:
        """Give back what the request holds that has not arrived; what a file thread still writes is given back by it."""
        if self.incoming is not None and not self._flushing:
            self._server.release(self.incoming)
            self.incoming = None

    def invite(self) -> None:
        """Ask for the body that the client waits to send; its time begins."""
        if self.waits:
            self.waits = False
            self._since = self._server.now()
            self._connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def abandon(self) -> None:
        """The client has gone."""
        self.stop()
        if self.incoming is not None:
            self.incoming.abandoned = True
            if not self._flushing:
                self._server.release(self.incoming)

    def is_late(self, now: float) -> bool:
        """Whether the request takes longer to arrive than it may."""
        exchange, limits = self.incoming, self._server.limits
        if exchange is None:
            return False
        if exchange.body is None:
            return now - self._since > limits.head_seconds
        if self._flushing or exchange.complete or self.waits:
            return False
        allowed = limits.body_grace + exchange.body.received / limits.body_rate
        return now - self._since > min(allowed, limits.body_longest)

    # --- called by the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        if self.incoming is not None:
            # Its body is still being written to a file. Who sends large bodies waits for the answer to one.
            self.incoming.answer_closes = True
            self._parser = None
        if self._connection.refused is None and self._parser is not None:
            self.incoming = Exchange(self._connection, self._base.copy())
            self._target = b""
            self._head_bytes = self._headers = 0
            self._since = self._server.now()

    def on_url(self, url: bytes) -> None:
        """A part of the request's target."""
        self._target += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        self._headers += 1
        self._count_head(len(name) + len(value))
        if self.incoming is None:
            return
        key = environ_key(name)
        environ = self.incoming.environ
        # What comes behind a body in chunks is no header: nobody has checked it.
        if not key or "REQUEST_METHOD" in environ:
            return
        text = value.decode("latin-1")
        if key in environ:
            if key == "HTTP_HOST":
                self._connection.refuse(400, "Bad Request")
            text = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{text}"
        environ[key] = text

    def on_headers_complete(self) -> None:
        """All headers are there: decide whether the body is wanted."""
        exchange, parser = self.incoming, self._parser
        if exchange is None or parser is None or self._connection.refused is not None:
            return
        server = self._server
        environ = exchange.environ
        version = parser.get_http_version()
        environ["REQUEST_METHOD"] = method = parser.get_method().decode()
        environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
        target = self._target
        environ["RAW_URI"] = target.decode("latin-1")
        if not target.startswith(b"/"):
            target = origin_form(target)
        path, _, query = target.partition(b"?")
        environ["PATH_INFO"] = path_info(path)
        environ["QUERY_STRING"] = query.decode("latin-1")
        exchange.answer_closes = not parser.should_keep_alive() or "HTTP_UPGRADE" in environ
        server.working(self._connection)
        chunked = environ.pop("HTTP_TRANSFER_ENCODING", None)
        length = environ.get("CONTENT_LENGTH")
        if chunked is None and (length is None or length == "0"):
            exchange.lane = server.requests
            return
        self._receive_body(exchange, method, int(length or 0), environ.get("HTTP_EXPECT", ""), version)

    def on_body(self, data: bytes) -> None:
        """The next bytes of a body."""
        exchange = self.incoming
        if exchange is None or exchange.body is None or self._parser is None or self._connection.refused is not None:
            return
        exchange.body.add(data)
        server = self._server
        server.body_bytes += len(data)
        if server.body_bytes > server.limits.bodies_total:
            self._connection.refuse(503, answers.BUSY, 30)
        elif exchange.body.received > server.limits.body and exchange.body.received > self._limit_of(exchange):
            self._connection.refuse(413, "Payload too large")

    def on_message_complete(self) -> None:
        """A whole request has arrived."""
        exchange = self.incoming
        if exchange is None or self._parser is None or self._connection.refused is not None or self._upgrading:
            return
        if exchange.body is not None:
            exchange.environ["CONTENT_LENGTH"] = str(exchange.body.received)
            self._server.uncount_body(exchange)
        exchange.complete = True
        self.waits = False
        if self._flushing:
            return
        self.incoming = None
        self._connection.accept(exchange)

    # --- heads -----------------------------------------------------------------------------------------------------

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        limits = self._server.limits
        if self._head_bytes > limits.head or self._headers > limits.headers:
            self._connection.refuse(431, "Request Header Fields Too Large")

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Another protocol was offered, and none is spoken: read the body, if there is one, and answer in HTTP/1.1.

        The parser takes what follows for the other protocol, so a new one is given the head that the body needs.
        """
        exchange, self._parser = self.incoming, None
        if exchange is None or exchange.body is None or self._connection.refused is not None:
            return
        length = exchange.environ.get("CONTENT_LENGTH")
        framing = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
        parser = httptools.HttpRequestParser(_BodyOnly(self))
        parser.feed_data(f"POST / HTTP/1.1\r\n{framing}\r\n\r\n".encode())
        self._parser, self._upgrading = parser, False
        try:
            parser.feed_data(rest)
        except httptools.HttpParserError:
            self._connection.refuse(400, "Bad Request")

    # --- bodies ----------------------------------------------------------------------------------------------------

    def _receive_body(self, exchange: Exchange, method: str, length: int, expect: str, version: str) -> None:
        server = self._server
        limit, exchange.lane = server.rule(method, exchange.environ["PATH_INFO"])
        if length > limit:
            self._connection.refuse(413, "Payload too large")
            return
        exchange.address = server.address_of(exchange.environ)
        if not server.count_body(exchange):
            self._connection.refuse(429, "Too many requests")
            return
        exchange.body = Body(server.limits.body_in_memory, server.folder)
        self._upgrading = "HTTP_UPGRADE" in exchange.environ
        self._since = server.now()
        if expect.lower() == "100-continue" and version == "1.1":
            self.waits = True
            self._connection.invite()

    def _limit_of(self, exchange: Exchange) -> int:
        return self._server.rule(exchange.environ["REQUEST_METHOD"], exchange.environ["PATH_INFO"])[0]

    def _spill(self, exchange: Exchange, body: Body) -> None:
        """Write a large body to its file, outside this thread; meanwhile nothing more is read."""
        if self._flushing or not body.spilled or (body.pending < _CHUNK and body.received > _CHUNK):
            return
        connection = self._connection
        self._flushing = True
        connection.transport.pause_reading()

        async def flush() -> None:
            failed = False
            try:
                await self._server.in_file_thread(body.flush)
            except OSError as error:
                answers.logger.error("a body could not be kept: %s", error)
                failed = True
            self._flushing = False
            if exchange.abandoned:
                self._server.release(exchange)
                return
            with contextlib.suppress(RuntimeError):
                connection.transport.resume_reading()
            if failed:
                connection.refuse(503, answers.BUSY, 30)
            if connection.refused is not None:
                connection.say_refusal()
            elif exchange.complete:
                self.incoming = None
                connection.accept(exchange)

        self._server.spawn(flush())


class _BodyOnly:
    """Passes on what a parser finds of a body."""

    def __init__(self, reader: RequestReader) -> None:
        self.on_body = reader.on_body
        self.on_message_complete = reader.on_message_complete
