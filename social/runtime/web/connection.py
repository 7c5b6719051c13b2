"""Uvicorn's HTTP protocol with bounds: for heads and for silence, for the number of connections, and for how slowly one reads.

Uvicorn has a timeout between two requests only, and only until the next byte; it takes connections and requests sent ahead
without end, and its close waits for clients that read nothing (security rows 49 to 52).
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import time
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from social.api import addresses
from social.runtime.web.environment import BUSY, Refused
from social.runtime.web.limits import Limits

if TYPE_CHECKING:
    import asyncio

    from uvicorn.config import Config
    from uvicorn.server import ServerState

#: The key under which a scope's extensions have the Connection.
EXTENSION = "social.connection"
#: Seconds for a client to read why it was refused.
LINGER_SECONDS = 2.0
#: The most bytes in a row that are neither a body's nor the end of a head.
_SILENT_BYTES = 64 * 1024
_NEVER = float("inf")


class Connections:
    """All connections of a process: how many, of whom, and which of them wait."""

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


class Connection(HttpToolsProtocol):
    """One client. `deadline` is when it is ended, by the monotonic clock."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.all: Connections = cast(Any, config.app).connections
        self.limits = self.all.limits
        self.address = ""
        self.deadline = 0.0
        self._active: RequestResponseCycle | None = None
        """The request that is being answered; others may wait in `pipeline`."""
        self._refusal: bytes | None = None
        """The answer to a request that is not taken; nothing is read behind it."""
        self._joined: _Joined | None = None
        self._in_head = False
        self._upgrading = False
        self._silent = 0

    # --- the transport ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse it."""
        super().connection_made(transport)
        self.deadline = time.monotonic() + self.limits.head_seconds
        self.address = counted_address(self.client[0]) if self.client else ""
        if not self.all.admit(self):
            self._refuse(Refused(503, BUSY, 5))

    def connection_lost(self, exc: Exception | None) -> None:
        """Have nobody wait for the client."""
        self.all.leave(self)
        if self._active is not None:
            # Of several requests Uvicorn tells the last one.
            self._abandon(self._active)
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Close, unless requests were sent whole: who sends no more may still wait for the answers."""
        if self._active is None or self.cycle.more_body or self._refusal is not None:
            return False
        self.cycle.keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Read the next bytes."""
        if self._refusal is not None:
            return
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        self._silent += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(Refused(400, "Bad Request"))
        if self._silent > _SILENT_BYTES:
            self._refuse(
                Refused(431, "Request Header Fields Too Large") if self._in_head else Refused(400, "Bad Request")
            )

    # --- called by the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._in_head = True
        self._silent = 0
        if self._active is None:
            self.deadline = time.monotonic() + self.limits.head_seconds
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header. What comes behind a body in chunks is none: nobody has checked it."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Have the request answered, now or behind those before it."""
        if len(self.pipeline) >= self.limits.pipelined:
            raise ValueError  # nobody who means well sends so many ahead: those that were taken are answered
        self._in_head = False
        self._silent = 0
        self._upgrading = self.parser.should_upgrade()
        self.scope["extensions"] = {EXTENSION: cast(Any, self), "social.target": cast(Any, self.url)}
        super().on_headers_complete()
        if self._active is None:
            self._active = self.cycle
            self.deadline = _NEVER
            self.all.occupy(self)

    def on_body(self, body: bytes) -> None:
        """The next bytes of a body."""
        self._silent = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A whole request has arrived."""
        if not self._upgrading:
            super().on_message_complete()

    def _decline_upgrade(self, rest: bytes) -> None:
        """Take what follows as the body of the request and answer in HTTP/1.1: no other protocol is spoken.

        The parser takes it for the other protocol, so a new one is given the part of the head that a body needs.
        """
        self._upgrading = False
        self.cycle.keep_alive = False
        framing = [header for header in self.headers if header[0] in (b"content-length", b"transfer-encoding")]
        head = b"".join(b"%s: %s\r\n" % header for header in framing)
        self.parser = httptools.HttpRequestParser(_BodyOnly(self))
        try:
            self.parser.feed_data(b"POST / HTTP/1.1\r\n" + head + b"\r\n")
            self.parser.feed_data(rest if framing else b"")
        except httptools.HttpParserError:
            self._refuse(Refused(400, "Bad Request"))

    # --- answers ---------------------------------------------------------------------------------------------------

    def extend(self, seconds: float) -> None:
        """Give the client so much time to take what it is sent next."""
        self.deadline = time.monotonic() + seconds

    def join_writes(self) -> None:
        """Have the answer that begins now leave in one write: it is whole, and each write is a system call."""
        if self._active is not None:
            self._joined = _Joined(self.transport)
            self._active.transport = cast(Any, self._joined)

    def on_response_complete(self) -> None:
        """Turn to what the client has sent meanwhile, or wait for its next request."""
        if self._joined is not None:
            self._joined.flush()
            self._joined = None
        self._active = self.pipeline[-1][0] if self.pipeline else None
        if self._active is not None:
            self.deadline = _NEVER
        else:
            self.extend(self.limits.head_seconds if self._in_head else self.limits.idle_seconds)
            self.all.release(self)
            if self._refusal is not None:
                self._say_refusal()
        super().on_response_complete()

    def shutdown(self) -> None:
        """End when what has arrived whole is answered."""
        self.all.stopping = True
        if self._active is None:
            self.transport.close()
        elif self.cycle.more_body:
            self.drop()
        else:
            self.cycle.keep_alive = False

    def expire(self) -> None:
        """The deadline is over."""
        if self._active is not None or self._refusal is not None or self.transport.get_write_buffer_size():
            self.drop()
        elif self._in_head:
            self._refuse(Refused(408, "Request Timeout"))
        else:
            self.transport.close()

    def drop(self) -> None:
        """End the connection at once; what the client has not taken is thrown away, by the system too."""
        with contextlib.suppress(OSError, AttributeError):
            own = self.transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self._active is not None:
            self._abandon(self._active)
        self.transport.abort()

    def _refuse(self, refused: Refused) -> None:
        """Take no more requests, and say why behind the answers to those that were taken. The first reason stands."""
        if self._refusal is not None or self.transport.is_closing():
            return
        status, headers, body, *_rest = refused.answer
        self.all.refusals[status] += 1
        lines = b"".join(b"%s: %s\r\n" % header for header in self.server_state.default_headers + headers)
        self._refusal = STATUS_LINE[status] + lines + b"\r\n" + body
        if self._active is not None and self.cycle.more_body and not self.cycle.response_started:
            # It will never be whole.
            if self.cycle is self._active:
                self._abandon(self._active)
                self._active = None
            else:
                self.pipeline.popleft()
        if self._active is None:
            self._say_refusal()

    def _say_refusal(self) -> None:
        if self.transport.is_closing():
            return
        self.all.occupy(self)
        self.extend(LINGER_SECONDS)
        self.transport.write(self._refusal or b"")
        # A close with unread bytes is a reset, which takes the answer with it: what still comes is thrown away.
        if self.transport.can_write_eof():
            self.transport.write_eof()

    @staticmethod
    def _abandon(cycle: RequestResponseCycle) -> None:
        cycle.disconnected = True
        cycle.message_event.set()


class _Joined:
    """A transport for one answer: what is written leaves at `flush` or `close`."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._pieces: list[bytes] = []
        self.write = self._pieces.append
        self.is_closing = transport.is_closing

    def flush(self) -> None:
        """Write everything at once."""
        if self._pieces:
            self._transport.write(b"".join(self._pieces))
            self._pieces.clear()

    def close(self) -> None:
        """Close the transport behind what was written."""
        self.flush()
        self._transport.close()


class _BodyOnly:
    """Passes on what a parser finds of a body."""

    def __init__(self, connection: Connection) -> None:
        self.on_body = connection.on_body
        self.on_message_complete = connection.on_message_complete


def count_down(counter: Counter[str], name: str) -> None:
    """One less; nothing is kept of who has none."""
    counter[name] -= 1
    if counter[name] <= 0:
        del counter[name]


@lru_cache(maxsize=4096)
def counted_address(address: str) -> str:
    """The address, of IPv6 its /64; "" for trusted proxies and for private networks.

    What comes from a private address is from a proxy of ours, whether or not TRUSTED_PROXIES names it: counted, it would
    be one client with everybody's connections.
    """
    key = addresses.rate_key(address)
    if addresses.is_trusted(address) or not ipaddress.ip_network(key).network_address.is_global:
        return ""
    return key
