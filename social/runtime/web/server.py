"""What the connections of one web process share: threads, counts per client, and the check of deadlines every second."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from social.api import addresses
from social.runtime.web.answers import Application
from social.runtime.web.connection import Connection
from social.runtime.web.exchange import Exchange
from social.runtime.web.lanes import Lane
from social.runtime.web.limits import Limits
from social.runtime.web.requests import FileWrapper, base_environ

logger = logging.getLogger("social.web")
P = ParamSpec("P")
T = TypeVar("T")
#: The most bytes of a body that a path takes, and whether it belongs to the uploads; None for an ordinary path.
UploadLimit = Callable[[str, str], int | None]


class Server:
    """One process's part of the web server.

    `upload_limit(method, path)` answers the most bytes of a body where a path declares more than `limits.body`, else
    None; such requests have threads of their own. `folder` is where large bodies wait. `beat` is called every second
    while the process does its work.
    """

    def __init__(
        self,
        application: Application,
        limits: Limits,
        *,
        upload_limit: UploadLimit = lambda method, path: None,
        folder: Path | None = None,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.application = application
        self.limits = limits
        self.folder = folder
        self.stopping = False
        self.body_bytes = 0
        self.finished: deque[Exchange] = deque()
        """Requests whose answers were written in their threads, which the loop has not noticed yet."""
        self.requests = Lane("web", limits.threads, limits.waiting)
        self._uploads = Lane("uploads", limits.upload_threads, limits.uploads_waiting)
        self._upload_limit = upload_limit
        self._beat = beat
        self._files = ThreadPoolExecutor(4, thread_name_prefix="files")
        self._connections: set[Connection] = set()
        # In the order in which they began to wait: those that never sent a request, and those between two requests.
        self._fresh: dict[Connection, None] = {}
        self._idle: dict[Connection, None] = {}
        self._per_address: Counter[str] = Counter()
        self._bodies: Counter[str] = Counter()
        self._uploads_of: Counter[str] = Counter()
        self._refusals: Counter[int] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self.loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]

    # --- life ------------------------------------------------------------------------------------------------------

    def run(self, listener: socket.socket) -> bool:
        """Serve until SIGTERM or SIGINT; whether all requests ended in time."""
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> bool:
        self.loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            self.loop.add_signal_handler(signum, stop.set)
        for lane in (self.requests, self._uploads):
            lane.start()
        name = listener.getsockname()[:2]
        self._environ = base_environ(name, ("", 0)) | {"wsgi.file_wrapper": FileWrapper}
        server = await self.loop.create_server(lambda: Connection(self), sock=listener)
        watch = asyncio.create_task(self._watch())
        await stop.wait()
        self.stopping = True
        self.settle()
        server.close()
        return await self._stop(watch)

    async def _stop(self, watch: asyncio.Task[None]) -> bool:
        deadline = time.monotonic() + self.limits.stop_seconds
        for connection in list(self._connections):
            connection.close_idle()
        while self._connections and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        watch.cancel()
        for connection in list(self._connections):
            connection.evict()
        lanes = (self.requests, self._uploads)
        for lane in lanes:
            lane.stop()
        await asyncio.sleep(0)
        ended = [lane.join(deadline) for lane in lanes]
        return all(ended)

    async def _watch(self) -> None:
        while True:
            now = self.now()
            self.settle()
            for connection in list(self._connections):
                connection.check(now)
            stuck = self.requests.stuck_for()
            if stuck < self.limits.stuck_seconds:
                self._beat()
            if self._refusals:
                refusals = ", ".join(f"{count} x {status}" for status, count in sorted(self._refusals.items()))
                logger.warning("requests were refused before they reached the application: %s", refusals)
                self._refusals.clear()
            await asyncio.sleep(1.0)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine that nobody waits for."""
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def in_file_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something with a file where a slow disk stops nobody."""
        return await self.loop.run_in_executor(self._files, lambda: work(*args, **kwargs))

    def now(self) -> float:
        """The loop's clock, in seconds."""
        return self.loop.time()

    # --- connections -----------------------------------------------------------------------------------------------

    def admit(self, connection: Connection) -> bool:
        """Take a new connection in, if need be in the place of one that waits; False when there is none."""
        peer = connection.transport.get_extra_info("peername") or ("", 0)
        connection.base = self._environ | {"REMOTE_ADDR": peer[0], "REMOTE_PORT": str(peer[1])}
        connection.peer = counted_address(peer[0])
        self._connections.add(connection)
        if connection.peer:
            self._per_address[connection.peer] += 1
            if self._per_address[connection.peer] > self.limits.connections_per_address:
                return False
        if len(self._connections) > self.limits.connections:
            waiting = self._fresh or self._idle
            if not waiting:
                return False
            oldest = next(iter(waiting))
            self.leave(oldest)
            oldest.evict()
        self._fresh[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection; a second call does nothing."""
        self.working(connection)
        if connection in self._connections:
            self._connections.remove(connection)
            if connection.peer:
                _count_down(self._per_address, connection.peer)

    def waiting(self, connection: Connection) -> None:
        """A connection is between two requests: it may be closed for a new one."""
        if self.stopping:
            connection.close_idle()
        self._idle[connection] = None

    def working(self, connection: Connection) -> None:
        """A connection has sent the head of a request."""
        self._fresh.pop(connection, None)
        self._idle.pop(connection, None)

    # --- requests --------------------------------------------------------------------------------------------------

    def rule(self, method: str, path: str) -> tuple[int, Lane]:
        """The most bytes of a body, and the threads that answer such a request."""
        limit = self._upload_limit(method, path)
        return (self.limits.body, self.requests) if limit is None else (limit, self._uploads)

    def address_of(self, environ: dict[str, Any]) -> str:
        """What is counted for the client of a request: the address that the trusted proxies name."""
        return counted_address(addresses.find(environ))

    def count_body(self, exchange: Exchange) -> bool:
        """Whether the client may send one more body now."""
        address = exchange.address
        if address and self._bodies[address] >= self.limits.bodies_per_address:
            return False
        self._bodies[address] += 1
        exchange.counted = True
        return True

    def uncount_body(self, exchange: Exchange) -> None:
        """A body has arrived, or never will."""
        if exchange.counted:
            exchange.counted = False
            _count_down(self._bodies, exchange.address)

    def submit(self, exchange: Exchange) -> bool:
        """Have a thread answer a request; False when too many wait."""
        lane = exchange.lane
        assert lane is not None
        if lane is self._uploads and exchange.address:
            if self._uploads_of[exchange.address] >= self.limits.uploads_per_address:
                return False
            self._uploads_of[exchange.address] += 1
        if lane.submit(exchange):
            return True
        self._uploaded(exchange)
        return False

    def release(self, exchange: Exchange) -> None:
        """A request needs nothing any more."""
        self.uncount_body(exchange)
        body = exchange.body
        if body is not None:
            exchange.body = None
            self.body_bytes -= body.received
            body.close()

    def settle(self) -> None:
        """Take notice of what the threads have answered; before anything is decided by what a connection is doing."""
        finished = self.finished
        while finished:
            exchange = finished.popleft()
            exchange.connection.settle(exchange)

    def note_refusal(self, status: int) -> None:
        """Count a request that never reached the application, for the log."""
        self._refusals[status] += 1

    def _uploaded(self, exchange: Exchange) -> None:
        if exchange.lane is self._uploads and exchange.address:
            _count_down(self._uploads_of, exchange.address)

    def answered(self, exchange: Exchange) -> None:
        """A thread is free again."""
        self._uploaded(exchange)
        self.release(exchange)


def _count_down(counter: Counter[str], name: str) -> None:
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
