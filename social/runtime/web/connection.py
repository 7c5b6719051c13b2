"""Uvicorn's HTTP protocol with bounds: for heads and for silence, for the number of connections, and for how slowly one reads.

Uvicorn has a timeout between two requests only, and only until the next byte; it takes connections and requests sent ahead
without end, and its close waits for clients that read nothing (security rows 49 to 52).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from social.api.addresses import connection_key
from social.runtime.web.environment import BUSY, REFUSALS, Answer, Refused, constants, environment, head
from social.runtime.web.limits import Limits

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

#: Seconds for a client to read why it was refused.
LINGER_SECONDS = 2.0
#: The most bytes in a row that are neither a body's nor the end of a head.
_SILENT_BYTES = 64 * 1024
_NO_DEADLINE = float("inf")


class Connections:
    """The connections of a process: how many, of whom, and which of them wait."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.refusals: Counter[int] = Counter()
        """Requests that were refused since the last look, by status."""
        self.stopping = False
        self._all: set[Connection] = set()
        self._per_address: Counter[str] = Counter()
        # In the order in which they began to wait: those that never sent a request, and those between two requests.
        self._fresh: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}

    def admit(self, connection: Connection) -> bool:
        """Take a new connection in, if need be in the place of one that waits; False when there is none."""
        self._all.add(connection)
        if connection.address:
            self._per_address[connection.address] += 1
            if self._per_address[connection.address] > self.limits.connections_per_address:
                return False
        if len(self._all) > self.limits.connections:
            waiting = self._fresh or self._idle
            if not waiting:
                return False
            oldest = next(iter(waiting))
            self.leave(oldest)
            oldest.drop()
        self._fresh[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection; a second call does nothing."""
        self.occupy(connection)
        if connection in self._all:
            self._all.remove(connection)
            if connection.address:
                count_down(self._per_address, connection.address)

    def release(self, connection: Connection) -> None:
        """A connection is between two requests: it may be closed for a new one."""
        self._idle[connection] = None

    def occupy(self, connection: Connection) -> None:
        """A connection has sent the head of a request."""
        self._fresh.pop(connection, None)
        self._idle.pop(connection, None)

    def check(self) -> None:
        """End what takes too long; to be called every second."""
        now = time.monotonic()
        for connection in [one for one in self._all if now > one.deadline]:
            connection.expire()


class Adapter(Protocol):
    """Server of the requests of connections."""

    connections: Connections

    def begin(self, request: Request) -> None:
        """Have a request answered whose head is known. Called when it is the first of its connection."""


class Request(RequestResponseCycle):
    """A request and its answer; `environ` is what WSGI calls its head."""

    def __init__(self, connection: Connection, environ: dict[str, Any], *, keep_alive: bool) -> None:
        super().__init__(
            scope=connection.scope,
            transport=connection.transport,
            flow=connection.flow,
            logger=connection.logger,
            access_logger=connection.access_logger,
            access_log=False,
            default_headers=connection.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=connection.expect_100_continue,
            keep_alive=keep_alive,
            on_response=connection.on_response_complete,
        )
        self.connection = connection
        self.environ = environ

    def start(self, work: Callable[[Request], Awaitable[None]]) -> None:
        """Run a coroutine that sends the answer."""

        async def application(scope: Any, receive: Any, send: Any) -> None:
            await work(self)

        tasks = self.connection.tasks
        task = self.connection.loop.create_task(self.run_asgi(application))
        task.add_done_callback(tasks.discard)
        tasks.add(task)

    def answer(self, answer: Answer) -> None:
        """Send an answer that is whole, in one write: each is a system call."""
        if self.disconnected:
            return
        more = self.default_headers if self.keep_alive else [*self.default_headers, (b"connection", b"close")]
        self.transport.write(head(answer.status, answer.headers, more) + answer.body)
        self.response_started = self.response_complete = True
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def abandon(self) -> None:
        """Have nobody wait for the client."""
        self.disconnected = True
        self.message_event.set()


class Connection(HttpToolsProtocol):
    """Connection of one client. `deadline` is when it is ended, by the monotonic clock."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.adapter = cast(Adapter, config.app)
        self.all = self.adapter.connections
        self.limits = self.all.limits
        self.address: str | None = None
        self.deadline = 0.0
        self._constants: dict[str, Any] = {}
        self._requests: deque[Request] = deque()
        """The request that is being answered, and those that wait for it."""
        self._begun = False
        """True once the first of them has been given to the application."""
        self._refusal: bytes | None = None
        """The answer to a request that is not taken; nothing is read behind it."""
        self._in_head = False
        self._upgrading = False
        self._silent = 0

    # --- the transport ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # only TCP comes here
        """Begin to wait for a request, or refuse it."""
        super().connection_made(transport)
        self._constants = constants(self.server, self.client)
        self.deadline = time.monotonic() + self.limits.head_seconds
        self.address = connection_key(self._constants["REMOTE_ADDR"])
        if not self.all.admit(self):
            self._refuse(Refused(503, BUSY, 5))

    def connection_lost(self, exc: Exception | None) -> None:
        """Have nobody wait for the client."""
        self.all.leave(self)
        self._abandon()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # Uvicorn declares None
        """Close, unless requests were sent whole: who sends no more may still wait for the answers."""
        if not self._requests or self.cycle.more_body or self._refusal is not None:
            return False
        self.cycle.keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Read the next bytes."""
        if self._refusal is not None:
            return
        self._silent += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # What a callback raises stands behind the parser's error.
            reason = error.__context__
            self._refuse(reason if isinstance(reason, Refused) else Refused(400, REFUSALS[400]))
        if self._silent > _SILENT_BYTES:
            self._refuse(Refused(431, REFUSALS[431]) if self._in_head else Refused(400, REFUSALS[400]))
        self._begin()

    # --- called by the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._in_head = True
        self._silent = 0
        if not self._requests:
            self.deadline = time.monotonic() + self.limits.head_seconds
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. Trailers after a chunked body are ignored, because nobody has checked them."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take the request. Raises Refused; Uvicorn's own would start a task for each, most of which only wait for a thread."""
        if len(self._requests) > self.limits.pipelined:
            raise ValueError  # nobody who means well sends so many ahead: those that were taken are answered
        self._in_head = False
        self._silent = 0
        self._upgrading = self.parser.should_upgrade()
        version, method = self.parser.get_http_version(), self.parser.get_method().decode("ascii")
        self.scope["method"] = method
        found = environment(method, self.url, version, self.headers, self.limits)
        keep_alive = version != "1.0" and self.parser.should_keep_alive() and not self.all.stopping
        self.cycle = request = Request(self, self._constants | found, keep_alive=keep_alive)
        self._requests.append(request)
        if len(self._requests) > 1:
            self.flow.pause_reading()
        else:
            self.deadline = _NO_DEADLINE
            self.all.occupy(self)

    def on_body(self, body: bytes) -> None:
        """The next bytes of a body."""
        self._silent = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A whole request has arrived."""
        if not self._upgrading:
            super().on_message_complete()

    def _begin(self) -> None:
        """Have the first request answered, if it is not yet."""
        if self._requests and not self._begun:
            self._begun = True
            self.adapter.begin(self._requests[0])

    def _decline_upgrade(self, rest: bytes) -> None:
        """Take what follows as the body of the request and answer in HTTP/1.1: no other protocol is spoken.

        The parser takes it for the other protocol, so a new one is given the part of the head that a body needs.
        """
        self._upgrading = False
        self.cycle.keep_alive = False
        framing = [header for header in self.headers if header[0] in (b"content-length", b"transfer-encoding")]
        lines = b"".join(b"%s: %s\r\n" % header for header in framing)
        self.parser = httptools.HttpRequestParser(_BodyOnly(self))
        try:
            self.parser.feed_data(b"POST / HTTP/1.1\r\n" + lines + b"\r\n")
            self.parser.feed_data(rest if framing else b"")
        except httptools.HttpParserError:
            self._refuse(Refused(400, REFUSALS[400]))

    # --- answers ---------------------------------------------------------------------------------------------------

    def extend(self, seconds: float) -> None:
        """Give the client so much time to take what it is sent next."""
        self.deadline = time.monotonic() + seconds

    def on_response_complete(self) -> None:
        """Turn to what the client has sent meanwhile, or wait for its next request."""
        self._requests.popleft()
        self._begun = False
        if self._requests:
            self.deadline = _NO_DEADLINE
        else:
            self.extend(self.limits.head_seconds if self._in_head else self.limits.idle_seconds)
            self.all.release(self)
            if self._refusal is not None:
                self._say_refusal()
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self._begin()

    def shutdown(self) -> None:
        """End when what has arrived whole is answered."""
        self.all.stopping = True
        if not self._requests:
            self.transport.close()
        elif self.cycle.more_body:
            self.drop()
        else:
            self.cycle.keep_alive = False

    def expire(self) -> None:
        """The deadline is over."""
        if self._requests or self._refusal is not None or self.transport.get_write_buffer_size():
            self.drop()
        elif self._in_head:
            self._refuse(Refused(408, "Request Timeout"))
        else:
            self.transport.close()

    def drop(self) -> None:
        """End the connection at once; what the client has not taken is thrown away, by the system too."""
        # One that has gone by itself has no socket any more.
        with contextlib.suppress(OSError, AttributeError, ValueError):
            own = self.transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._abandon()
        self.transport.abort()

    def refuse(self, refused: Refused) -> None:
        """Answer the first request with a refusal, and none behind it."""
        self._abandon()
        self._requests.clear()
        self._refuse(refused)

    def _refuse(self, refused: Refused) -> None:
        """Take no more requests, and say why behind the answers to those that were taken. The first reason stands."""
        if self._refusal is not None or self.transport.is_closing():
            return
        status, headers, body, *_rest = refused.answer
        self.all.refusals[status] += 1
        lines = head(status, headers, [*self.server_state.default_headers, (b"connection", b"close")])
        is_head = self.scope is not None and cast(Any, self.scope).get("method") == "HEAD"
        self._refusal = lines if is_head else lines + body
        if self._requests and self._requests[-1].more_body and not self._requests[-1].response_started:
            self._requests.pop().abandon()  # it will never be whole
        if not self._requests:
            self._say_refusal()

    def _say_refusal(self) -> None:
        if self.transport.is_closing():
            return
        self.all.occupy(self)
        self.extend(LINGER_SECONDS)
        self.transport.write(self._refusal or b"")
        # A close with unread bytes is a reset, which takes the answer with it: what still comes is thrown away.
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _abandon(self) -> None:
        for request in self._requests:
            request.abandon()


class _BodyOnly:
    """Passes on what a parser finds of a body."""

    def __init__(self, connection: Connection) -> None:
        self.on_body = connection.on_body
        self.on_message_complete = connection.on_message_complete


def count_down(counter: Counter[str], name: str) -> None:
    """Count one less; nothing is kept of who has none."""
    counter[name] -= 1
    if counter[name] <= 0:
        del counter[name]
