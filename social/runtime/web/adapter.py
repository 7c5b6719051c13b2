"""Runs a WSGI application on whole requests, in a bounded number of threads, and in none while anybody waits."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, cast

from django.http import HttpResponse

from social.api import addresses, later
from social.runtime.web.connection import Connections, Request, count_down
from social.runtime.web.environment import BUSY, CHUNK, Answer, Application, File, Refused, call
from social.runtime.web.limits import UNSENT, Limits
from social.runtime.web.threads import ThreadPool

logger = logging.getLogger("social.web")
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


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
        self._requests = ThreadPool("web", limits.threads, limits.waiting)
        self._uploads = ThreadPool("uploads", limits.upload_threads, limits.uploads_waiting)
        self._files = ThreadPool("files", 4, limits.connections)
        self._bodies: Counter[str] = Counter()
        self._uploads_of: Counter[str] = Counter()
        self._body_bytes = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Look after the connections for as long as the process lives (ASGI's lifespan)."""
        assert scope["type"] == "lifespan"
        await receive()
        for pool in (self._requests, self._uploads, self._files):
            pool.start()
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

    def begin(self, request: Request) -> None:
        """Have a request answered. One that is whole and small, with a small answer, needs no task of the event loop."""
        environ, body = request.environ, request.body
        if request.more_body or len(body) > self._limits.body_in_memory or (body and self._limit_of_upload(environ)):
            request.start(self._receive_and_answer)
            return
        if body or "HTTP_TRANSFER_ENCODING" in environ:
            _set_body(environ, io.BytesIO(body), len(body))
        else:
            environ["wsgi.input"] = io.BytesIO()
        try:
            self._requests.submit(partial(self._call, request), partial(self._answered, request))
        except Refused as refused:
            request.connection.refuse(refused)

    def _answered(self, request: Request, answer: Answer | None, _error: Exception | None) -> None:
        if answer is None:
            return
        if _is_small(answer) and not request.flow.write_paused:
            request.answer(answer)
        else:
            request.start(partial(self._send, answer))

    async def _receive_and_answer(self, request: Request) -> None:
        try:
            answer = await self._answer(request)
        except Refused as refused:
            request.connection.refuse(refused)
        else:
            if answer is not None:
                await self._send(answer, request)

    async def _answer(self, request: Request) -> Answer | None:
        """Return what the application answers; None when nobody waits for it. Raises Refused."""
        environ = request.environ
        limit = self._limit_of_upload(environ)
        most = self._limits.body if limit is None else limit
        if int(environ.get("CONTENT_LENGTH", 0)) > most:
            raise Refused(413, "Payload too large")
        address = addresses.connection_key(addresses.find(environ))
        with self._body() as body:
            with _counted(self._bodies, address, self._limits.bodies_per_address, Refused(429, "Too many requests")):
                if not await self._receive(request, body, most):
                    return None
            body.file.seek(0)
            _set_body(environ, body.file, body.received)
            if limit is None:
                return await self._requests.run(self._call, request)
            with _counted(self._uploads_of, address, self._limits.uploads_per_address, Refused(503, BUSY, 1)):
                return await self._uploads.run(self._call, request)

    def _limit_of_upload(self, environ: dict[str, Any]) -> int | None:
        return self._upload_limit(environ["REQUEST_METHOD"], environ["PATH_INFO"])

    @contextlib.contextmanager
    def _body(self) -> Iterator[_Body]:
        with tempfile.SpooledTemporaryFile(self._limits.body_in_memory, dir=self._folder) as file:
            body = _Body(file)
            try:
                yield body
            finally:
                self._body_bytes -= body.received

    async def _receive(self, request: Request, body: _Body, most: int) -> bool:
        """Keep a body; False when the client has gone. Raises Refused when it is too large or too slow."""
        limits, begun = self._limits, asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(limits.body_grace) as deadline:
                while (message := cast(Any, await request.receive()))["type"] == "http.request":
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

    def _call(self, request: Request) -> Answer | None:
        """Run the application, in a thread; not for who has gone and only wanted to read."""
        if request.transport.is_closing() and request.environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return None
        try:
            return call(self._application, request.environ)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                logger.error("the disk is full: %s", error)
                return Refused(503, BUSY, 30).answer
            logger.exception("a request was not answered by the application")
        except Exception:
            logger.exception("a request was not answered by the application")
        return Refused(500, "Internal Server Error").answer

    async def _wait(self, answer: Answer, wait: later.Wait, request: Request) -> Answer | None:
        """Ask for an answer that was put off until it is there, its time is over, or nobody waits for it."""
        gone = asyncio.ensure_future(_disconnection(request))
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
        kept = [header for header in answer.headers if header[0].lower() not in own]
        return Answer(
            found.status_code, [*kept, *found.items(), ("content-length", str(len(found.content)))], found.content
        )

    # --- answers ---------------------------------------------------------------------------------------------------

    async def _send(self, answer: Answer, request: Request) -> None:
        """Hand an answer to the client as quickly as it takes it. Who is too slow is ended by the check of every second."""
        if answer.wait is not None:
            found = await self._wait(answer, answer.wait, request)
            if found is None:
                return
            answer = found
        request.connection.extend(self._limits.read_seconds)
        if _is_small(answer):
            await request.flow.drain()
            request.answer(answer)
            return
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
        await request.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.file is not None:
            await self._send_file(request, answer.file)
            return
        for place in range(0, len(answer.body), CHUNK):
            request.connection.extend(self._limits.read_seconds)
            more = place + CHUNK < len(answer.body)
            body = answer.body[place : place + CHUNK]
            await request.send({"type": "http.response.body", "body": body, "more_body": more})

    async def _send_file(self, request: Request, file: File) -> None:
        """Send a part of a file, one chunk in memory, and close it.

        The connection is ended when the file has become shorter, or cannot be read: the promised length cannot be kept.
        """
        connection, place, end = request.connection, file.offset, file.offset + file.size
        try:
            while place < end and not connection.transport.is_closing():
                chunk = await self._files.run(os.pread, file.descriptor, min(CHUNK, end - place), place)
                place += len(chunk)
                if not chunk:
                    break
                connection.extend(self._limits.read_seconds)
                await request.send({"type": "http.response.body", "body": chunk, "more_body": place < end})
        except OSError:
            logger.exception("a file could not be read")
        finally:
            os.close(file.descriptor)
        if place < end:
            connection.drop()


@dataclass
class _Body:
    file: IO[bytes]
    received: int = 0


def _ask(wait: later.Wait) -> HttpResponse | None:
    return later.ask(wait.poll)


def _is_small(answer: Answer) -> bool:
    """Tell whether an answer is there, and is small enough to be given to the system at once."""
    return answer.wait is None and answer.file is None and len(answer.body) <= UNSENT


def _set_body(environ: dict[str, Any], file: IO[bytes], size: int) -> None:
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    environ |= {"CONTENT_LENGTH": str(size), "wsgi.input": file}


async def _disconnection(request: Request) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@contextlib.contextmanager
def _counted(counter: Counter[str], address: str | None, most: int, refused: Refused) -> Iterator[None]:
    """Count the client for the block, None not at all. Raises `refused` when it has as many already."""
    if address is None:
        yield
        return
    if counter[address] >= most:
        raise refused
    counter[address] += 1
    try:
        yield
    finally:
        count_down(counter, address)
