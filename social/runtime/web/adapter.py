"""Runs a WSGI application under ASGI: on whole requests, in a bounded number of threads, and in none while anybody waits."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import logging
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import IO, Any, ParamSpec, TypeVar

from django.http import HttpResponse

from social.api import addresses, later
from social.runtime.web.connection import (
    EXTENSION,
    LINGER_SECONDS,
    Connection,
    Connections,
    count_down,
    counted_address,
)
from social.runtime.web.environment import BUSY, CHUNK, Answer, Application, File, Refused, call, encoded, environment
from social.runtime.web.limits import Limits

logger = logging.getLogger("social.web")
P = ParamSpec("P")
T = TypeVar("T")
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Lane:
    """`threads` threads, and at most `waiting` calls that wait for one. Belongs to the event loop.

    An executor of the standard library does the same with two futures and a condition for each call, which costs as much as
    all the rest of a small request here (30 microseconds).
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._name = name
        self._count, self._most = threads, threads + waiting
        self._calls: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._taken = 0
        self._progress = 0.0

    def start(self) -> None:
        """Start the threads. They end with the process."""
        loop = asyncio.get_running_loop()
        for number in range(self._count):
            threading.Thread(target=self._serve, args=(loop,), name=f"{self._name}-{number}", daemon=True).start()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the call answers. Raises Refused when too many wait already."""
        if self._taken >= self._most:
            raise Refused(503, BUSY, 1)
        if self._taken <= self._count:
            self._progress = time.monotonic()
        self._taken += 1
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls.put((future, partial(work, *args, **kwargs)))
        try:
            return await future
        finally:
            self._taken -= 1
            self._progress = time.monotonic()

    def stuck_for(self) -> float:
        """For how many seconds calls have been waiting without any thread having finished one."""
        return time.monotonic() - self._progress if self._taken > self._count else 0.0

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            future, work = self._calls.get()
            try:
                tell = partial(future.set_result, work())
            except Exception as error:
                tell = partial(future.set_exception, error)
            loop.call_soon_threadsafe(_tell, future, tell)


def _tell(future: asyncio.Future[Any], tell: Callable[[], None]) -> None:
    if not future.done():  # nobody waits for it when the process ends
        tell()


class Adapter:
    """The ASGI application. Only for connections of the class Connection.

    `upload_limit(method, path)` answers the most bytes of a body where a path declares more than `limits.body`, else
    None; such requests have threads of their own. `folder` is where large bodies wait. `beat` is called every second
    while the process does its work.
    """

    def __init__(
        self,
        application: Application,
        limits: Limits,
        *,
        upload_limit: Callable[[str, str], int | None] = lambda method, path: None,
        folder: str | None = None,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.connections = Connections(limits)
        self._application = application
        self._limits = limits
        self._upload_limit = upload_limit
        self._folder = folder
        self._beat = beat
        self._requests = Lane("web", limits.threads, limits.waiting)
        self._uploads = Lane("uploads", limits.upload_threads, limits.uploads_waiting)
        self._files = Lane("files", 4, limits.connections)
        self._bodies: Counter[str] = Counter()
        self._uploads_of: Counter[str] = Counter()
        self._body_bytes = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request, or look after the connections for as long as the process lives."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        connection: Connection = scope["extensions"][EXTENSION]
        try:
            environ = environment(scope, scope["extensions"]["social.target"], self._limits)
            answer = await self._answer(connection, environ, receive)
        except Refused as refused:
            await self._refuse(connection, refused, receive, send)
        else:
            if answer is not None:
                await self._send(connection, answer, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        for lane in (self._requests, self._uploads, self._files):
            lane.start()
        watch = asyncio.create_task(self._watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watch.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _watch(self) -> None:
        refusals = self.connections.refusals
        while True:
            self.connections.check()
            if self._requests.stuck_for() < self._limits.stuck_seconds:
                self._beat()
            if refusals:
                counts = ", ".join(f"{count} x {status}" for status, count in sorted(refusals.items()))
                logger.warning("requests were refused before they reached the application: %s", counts)
                refusals.clear()
            await asyncio.sleep(1.0)

    # --- requests --------------------------------------------------------------------------------------------------

    async def _answer(self, connection: Connection, environ: dict[str, Any], receive: Receive) -> Answer | None:
        """What the application answers; None when nobody waits for it. Raises Refused."""
        if "HTTP_TRANSFER_ENCODING" not in environ and environ.get("CONTENT_LENGTH", "0") == "0":
            environ["wsgi.input"] = io.BytesIO()
            return await self._run(self._requests, connection, environ, receive)
        limit = self._upload_limit(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        most = self._limits.body if limit is None else limit
        if int(environ.get("CONTENT_LENGTH", 0)) > most:
            raise Refused(413, "Payload too large")
        address = counted_address(addresses.find(environ))
        with self._body() as body:
            with _counted(self._bodies, address, self._limits.bodies_per_address, Refused(429, "Too many requests")):
                if not await self._receive(receive, body, most):
                    return None
            body.file.seek(0)
            environ.pop("HTTP_TRANSFER_ENCODING", None)
            environ |= {"CONTENT_LENGTH": str(body.received), "wsgi.input": body.file}
            if limit is None:
                return await self._run(self._requests, connection, environ, receive)
            with _counted(self._uploads_of, address, self._limits.uploads_per_address, Refused(503, BUSY, 1)):
                return await self._run(self._uploads, connection, environ, receive)

    @contextlib.contextmanager
    def _body(self) -> Iterator[_Body]:
        with tempfile.SpooledTemporaryFile(self._limits.body_in_memory, dir=self._folder) as file:
            body = _Body(file)
            try:
                yield body
            finally:
                self._body_bytes -= body.received

    async def _receive(self, receive: Receive, body: _Body, most: int) -> bool:
        """Keep a body; False when the client has gone. Raises Refused when it is too large or too slow."""
        limits, begun = self._limits, asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(limits.body_grace) as deadline:
                while (message := await receive())["type"] == "http.request":
                    data: bytes = message["body"]
                    body.received += len(data)
                    self._body_bytes += len(data)
                    if body.received > most:
                        raise Refused(413, "Payload too large")
                    if self._body_bytes > limits.bodies_total:
                        raise Refused(503, BUSY, 30)
                    if body.received > limits.body_in_memory:
                        await self._files.run(body.file.write, data)
                    else:
                        body.file.write(data)
                    if not message["more_body"]:
                        return True
                    allowed = limits.body_grace + body.received / limits.body_rate
                    deadline.reschedule(begun + min(allowed, limits.body_longest))
        except TimeoutError:
            raise Refused(408, "Request Timeout") from None
        except OSError as error:
            logger.error("a body could not be kept: %s", error)
            raise Refused(503, BUSY, 30) from None
        return False

    async def _run(
        self, lane: Lane, connection: Connection, environ: dict[str, Any], receive: Receive
    ) -> Answer | None:
        answer = await lane.run(self._call, connection, environ)
        if answer is not None and answer.wait is not None:
            return await self._wait(answer, answer.wait, receive)
        return answer

    def _call(self, connection: Connection, environ: dict[str, Any]) -> Answer | None:
        """Run the application, in a thread; not for who has gone and only wanted to read."""
        if connection.transport.is_closing() and environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return None
        try:
            return call(self._application, environ)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                logger.error("the disk is full: %s", error)
                return Refused(503, BUSY, 30).answer
            logger.exception("a request was not answered by the application")
        except Exception:
            logger.exception("a request was not answered by the application")
        return Refused(500, "Internal Server Error").answer

    async def _wait(self, answer: Answer, wait: later.Wait, receive: Receive) -> Answer | None:
        """Ask for an answer that was put off until it is there, its time is over, or nobody waits for it."""
        gone = asyncio.ensure_future(_disconnection(receive))
        end, pause, found = time.monotonic() + wait.seconds, later.FIRST_PAUSE, None
        try:
            while found is None and not self.connections.stopping and time.monotonic() + pause < end:
                await asyncio.wait([gone], timeout=pause)
                if gone.done():
                    return None
                pause = min(pause * 2, later.LONGEST_PAUSE)
                with contextlib.suppress(Refused):  # the threads are busy: they are asked again
                    found = await self._requests.run(_ask, wait)
        except Exception:
            logger.exception("a request that was put off was not answered by the application")
            return Refused(500, "Internal Server Error").answer
        finally:
            gone.cancel()
        if found is None:
            return answer._replace(wait=None)
        own = {name.lower() for name, _value in found.items()} | {"content-length"}
        kept = [header for header in answer.headers if header[0].lower().decode("latin-1") not in own]
        length = (b"content-length", str(len(found.content)).encode())
        return Answer(found.status_code, [*kept, *encoded(found.items()), length], found.content)

    # --- answers ---------------------------------------------------------------------------------------------------

    async def _send(self, connection: Connection, answer: Answer, send: Send) -> None:
        """Hand an answer to the client as quickly as it takes it. Who is too slow is ended by the check of every second."""
        connection.extend(self._limits.read_seconds)
        if answer.file is None and len(answer.body) <= CHUNK:
            connection.join_writes()
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        if answer.file is not None:
            await self._send_file(connection, answer.file, send)
            return
        body = answer.body
        while len(body) > CHUNK:
            await send({"type": "http.response.body", "body": body[:CHUNK], "more_body": True})
            connection.extend(self._limits.read_seconds)
            body = body[CHUNK:]
        await send({"type": "http.response.body", "body": body})

    async def _send_file(self, connection: Connection, file: File, send: Send) -> None:
        """Send a part of a file, one chunk in memory, and close it.

        The connection is ended when the file has become shorter, or cannot be read: the promised length cannot be kept.
        """
        place, end = file.offset, file.offset + file.size
        try:
            while place < end and not connection.transport.is_closing():
                chunk = await self._files.run(os.pread, file.descriptor, min(CHUNK, end - place), place)
                place += len(chunk)
                if not chunk:
                    break
                connection.extend(self._limits.read_seconds)
                await send({"type": "http.response.body", "body": chunk, "more_body": place < end})
        except OSError:
            logger.exception("a file could not be read")
        finally:
            os.close(file.descriptor)
        if place < end:
            connection.drop()

    async def _refuse(self, connection: Connection, refused: Refused, receive: Receive, send: Send) -> None:
        """Say why, and close when the client has read it: a close with unread bytes is a reset, which loses the answer."""
        self.connections.refusals[refused.answer.status] += 1
        connection.extend(self._limits.read_seconds)
        status, headers, body, *_rest = refused.answer
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body"})


@dataclass
class _Body:
    file: IO[bytes]
    received: int = 0


def _ask(wait: later.Wait) -> HttpResponse | None:
    return later.ask(wait.poll)


async def _disconnection(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


@contextlib.contextmanager
def _counted(counter: Counter[str], address: str, most: int, refused: Refused) -> Iterator[None]:
    """Count the client for the block, "" not at all. Raises `refused` when it has as many already."""
    if not address:
        yield
        return
    if counter[address] >= most:
        raise refused
    counter[address] += 1
    try:
        yield
    finally:
        count_down(counter, address)
