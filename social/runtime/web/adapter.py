"""The RSGI application: it receives the body of a request, runs a WSGI application in a thread, and returns the response."""

import asyncio
import contextlib
import errno
import faulthandler
import io
import logging
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO, Any, Final, NamedTuple, TypeVar

import orjson

from social.api import addresses, later
from social.api.heads import refusal_of

logger = logging.getLogger("social.web")

T = TypeVar("T")

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
#: Seconds for which the rest of a refused request's body is read. If the connection were closed earlier, it would be reset,
#: and the client would never read the reason for the refusal.
_DISCARD_SECONDS: Final = 2.0
#: Maximum total size, in bytes, of the names and values of a request's headers. Granian limits only a buffer, and a single read
#: may exceed that.
_HEAD_BYTES: Final = 32 * 1024
#: Maximum size, in bytes, of a file that is read completely by the thread that opened it. Granian cannot send an empty part of
#: a file.
_SMALL_FILE: Final = 64 * 1024
_BUSY: Final = "There was a temporary problem serving your request, please try again"
_CONSTANTS: Final = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.url_scheme": "http",
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.input_terminated": True,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a web process, in seconds and bytes.

    A body must have arrived within `body_grace` plus one second for each `body_rate` bytes received, and within `body_longest`
    in any case. A process sends a heartbeat every second while its event loop runs, unless requests have waited for `stuck`
    seconds without any being finished. A process without a heartbeat for `silence` seconds is replaced.
    """

    threads: int = 8
    waiting: int = 256
    upload_threads: int = 2
    uploads_waiting: int = 32
    connections: int = 8192
    head_seconds: float = 10.0
    body: int = 1024 * 1024
    body_in_memory: int = 64 * 1024
    body_grace: float = 20.0
    body_rate: int = 2048
    body_longest: float = 600.0
    bodies_total: int = 1024 * 1024 * 1024
    bodies_per_address: int = 64
    uploads_per_address: int = 8
    read_seconds: float = 60.0
    stuck: float = 30.0
    silence: float = 10.0
    leave_seconds: float = 2.0
    stop_seconds: float = 3.0


class _Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""
    file: tuple[str, int, int] | None = None


class _Refused(Exception):
    """Refusal of a request before the application receives it: status, text, and the seconds of Retry-After."""

    def __init__(self, status: int, text: str, retry_after: int | None = None) -> None:
        super().__init__(text)
        headers = [("content-type", "application/json; charset=utf-8"), ("access-control-allow-origin", "*")]
        headers += [("connection", "close")] + [("retry-after", str(retry_after))] * (retry_after is not None)
        self.answer = _Answer(status, headers, orjson.dumps({"error": text}))


class _File:
    """`wsgi.file_wrapper`: the rest of a file, or the part before its attribute `end`."""

    def __init__(self, file: Any, block_size: int = 8192) -> None:
        self._file, self._block_size = file, block_size
        self.close: Callable[[], None] = file.close

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self._file.read(self._block_size), b"")

    def part(self) -> tuple[str, int, int] | None:
        """Return the path, the start and the end; None for a file without a path, and for a small part."""
        path = getattr(self._file, "name", None)
        if not isinstance(path, str) or not os.path.isabs(path):
            return None
        start, end = self._file.tell(), getattr(self._file, "end", None)
        end = os.fstat(self._file.fileno()).st_size if end is None else end
        return (path, start, end) if end - start > _SMALL_FILE else None


class _Threads:
    """Threads that run calls, with a limit on the number of waiting calls."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, name)
        self._threads, self._limit = threads, threads + waiting
        self._calls, self._progress = 0, 0.0

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run the call in one of the threads and return its result. Raises _Refused when too many calls wait."""
        if self._calls >= self._limit:
            raise _Refused(503, _BUSY, 1)
        if self._calls < self._threads:
            self._progress = time.monotonic()
        self._calls += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)
        finally:
            self._calls, self._progress = self._calls - 1, time.monotonic()

    @property
    def are_busy(self) -> bool:
        """Tell whether a call would have to wait for a thread."""
        return self._calls >= self._threads

    def are_stuck(self, seconds: float) -> bool:
        """Tell whether calls have been waiting for `seconds` without any call having finished."""
        return self._calls > self._threads and time.monotonic() - self._progress > seconds


class Adapter:
    """RSGI application of a web process.

    `upload_limit(method, path)` returns the limit of a body for a path that has a separate limit, or None; requests with a
    separate limit have their own threads. Bodies that are too large for memory are stored in `folder`. After SIGHUP the process
    accepts no more connections, closes each connection with its next response, and ends after `leave_seconds`. After SIGUSR1 it
    logs the stacks of its threads. `error_page(status, path, headers)` returns the headers and body of the page for a request
    that the application never receives, or None for JSON. `at_end` is called after the last response.
    """

    def __init__(
        self,
        application: Application,
        limits: Limits,
        *,
        upload_limit: Callable[[str, str], int | None] = lambda method, path: None,
        folder: str | None = None,
        error_page: Callable[[int, str, Any], tuple[Iterable[tuple[str, str]], bytes] | None] = lambda *request: None,
        at_end: Callable[[], object] = lambda: None,
    ) -> None:
        self._application, self._limits = application, limits
        self._upload_limit, self._folder = upload_limit, folder
        self._error_page, self._at_end = error_page, at_end
        self._requests = _Threads("web", limits.threads, limits.waiting)
        self._uploads = _Threads("uploads", limits.upload_threads, limits.uploads_waiting)
        self._bodies: Counter[tuple[str, bool]] = Counter()
        self._body_bytes = 0
        self._stopping = False
        self.beat: Callable[[], object] = lambda: None
        self.stop_accepting: Callable[[], None] = lambda: None

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Granian calls this before the event loop runs."""
        faulthandler.register(signal.SIGUSR1)
        # Granian handles SIGTERM and SIGINT with the same function, which does not end answers that wait for background work.
        loop.add_signal_handler(signal.SIGTERM, self._close_and_end, loop, 0.0)
        loop.add_signal_handler(signal.SIGHUP, self._close_and_end, loop, self._limits.leave_seconds)
        self._beating = loop.create_task(self._send_heartbeats())

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Granian calls this after the last response."""
        self._at_end()

    async def _send_heartbeats(self) -> None:
        while True:
            if not self._requests.are_stuck(self._limits.stuck):
                self.beat()
            await asyncio.sleep(1.0)

    def _close_and_end(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._stopping = True
        self.stop_accepting()
        loop.call_later(seconds, os.kill, os.getpid(), signal.SIGINT)

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        try:
            self._send(protocol, await self._answer(scope, protocol))
        except _Refused as refused:
            self._send(protocol, self._as_page(refused.answer, scope))
            with contextlib.suppress(TimeoutError, RuntimeError):
                async with asyncio.timeout(_DISCARD_SECONDS):
                    async for _data in protocol:
                        pass

    def _as_page(self, answer: _Answer, scope: Any) -> _Answer:
        """Return the refusal as a page, or unchanged for paths whose errors are JSON."""
        try:
            page = self._error_page(answer.status, scope.path, scope.headers)
        except Exception:
            logger.exception("the page of an error could not be made")
            page = None
        kept = [header for header in answer.headers if header[0] in ("connection", "retry-after")]
        return answer if page is None else answer._replace(headers=[*page[0], *kept], body=page[1])

    def _send(self, protocol: Any, answer: _Answer) -> None:
        status, headers, body, file = answer
        if self._stopping:
            headers = [*headers, ("connection", "close")]
        if file is None:
            protocol.response_bytes(status, headers, body)
        else:
            protocol.response_file_range(status, headers, *file)

    async def _answer(self, scope: Any, protocol: Any) -> _Answer:
        environ = _environment(scope)
        waits = environ[later.KEY] = []
        if "CONTENT_LENGTH" in environ or "HTTP_TRANSFER_ENCODING" in environ:
            answer = await self._answer_to_body(environ, protocol)
        else:
            environ["wsgi.input"] = io.BytesIO()
            call = self._requests.run(self._call, environ)
            if self._requests.are_busy and environ["REQUEST_METHOD"] in ("GET", "HEAD"):
                call = _unless_gone(protocol, call)
            answer = await call
        return await self._wait(answer, waits[0]) if waits else answer

    async def _answer_to_body(self, environ: dict[str, Any], protocol: Any) -> _Answer:
        limits, limit = self._limits, self._upload_limit(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        address, is_upload = addresses.connection_key(addresses.find(environ)), limit is not None
        if address is not None:
            if self._bodies[address, is_upload] >= (
                limits.uploads_per_address if is_upload else limits.bodies_per_address
            ):
                raise _Refused(429, "Too many requests", 1)
            self._bodies[address, is_upload] += 1
        try:
            with tempfile.SpooledTemporaryFile(limits.body_in_memory, dir=self._folder) as file:
                size = await self._receive(environ, protocol, file, limits.body if limit is None else limit)
                file.seek(0)
                environ.pop("HTTP_TRANSFER_ENCODING", None)
                environ |= {"CONTENT_LENGTH": str(size), "wsgi.input": file}
                return await (self._uploads if is_upload else self._requests).run(self._call, environ)
        finally:
            if address is not None:
                self._bodies[address, is_upload] -= 1
                self._bodies += Counter()  # removes counts of zero

    async def _receive(self, environ: dict[str, Any], protocol: Any, file: IO[bytes], limit: int) -> int:
        """Write the body into the file and return its size. Raises _Refused if it is too large, too slow or malformed."""
        limits, loop = self._limits, asyncio.get_running_loop()
        began = loop.time()
        size = ends = 0
        if int(environ.get("CONTENT_LENGTH", 0)) > limit:
            raise _Refused(413, "Payload too large")
        try:
            async with asyncio.timeout(limits.body_grace) as deadline:
                async for data in protocol:
                    ends += not data
                    size += len(data)
                    self._body_bytes += len(data)
                    if self._body_bytes > limits.bodies_total:
                        raise _Refused(503, _BUSY, 30)
                    if size > limit:
                        raise _Refused(413, "Payload too large")
                    if size <= limits.body_in_memory:
                        file.write(data)
                    else:
                        await asyncio.to_thread(file.write, data)
                    allowed = min(limits.body_grace + size / limits.body_rate, limits.body_longest)
                    deadline.reschedule(began + allowed)
        except TimeoutError:
            raise _Refused(408, "Request Timeout") from None
        except OSError as error:
            logger.error("a body could not be stored: %s", error)
            raise _Refused(503, _BUSY, 30) from None
        finally:
            self._body_bytes -= size
        # A complete body ends with one empty piece; a body that is cut off, is malformed or has trailers ends with two.
        if ends != 1:
            raise _Refused(400, "Bad Request")
        return size

    def _call(self, environ: dict[str, Any]) -> _Answer:
        started: list[Any] = []
        try:
            response = self._application(
                environ, lambda status, headers, _error=None: started.extend((status, headers))
            )
            try:
                file = response.part() if isinstance(response, _File) else None
                body = b"".join(response) if file is None else b""
            finally:
                if hasattr(response, "close"):
                    response.close()
            return _Answer(int(started[0][:3]), started[1], body, file)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                logger.error("the disk is full: %s", error)
                raise _Refused(503, _BUSY, 30) from None
            logger.exception("a request was not answered by the application")
        except BaseException:  # a SystemExit must not end the event loop
            logger.exception("a request was not answered by the application")
        raise _Refused(500, "Internal Server Error")

    async def _wait(self, answer: _Answer, wait: later.Wait) -> _Answer:
        """Wait for the delayed answer and return it; return `answer` if there is none within `wait.seconds`."""
        end, pause, found = time.monotonic() + wait.seconds, later.FIRST_PAUSE, None
        try:
            while found is None and not self._stopping and time.monotonic() + pause < end:
                await asyncio.sleep(pause)
                pause = min(pause * 2, later.LONGEST_PAUSE)
                with contextlib.suppress(_Refused):  # polled again when a thread is free
                    found = await self._requests.run(later.ask, wait.poll)
        except Exception:
            logger.exception("a delayed request was not answered by the application")
            raise _Refused(500, "Internal Server Error") from None
        if found is None:
            return answer
        own = {name.lower() for name, _value in found.items()} | {"content-length"}
        kept = [header for header in answer.headers if header[0].lower() not in own]
        return _Answer(found.status_code, [*kept, *found.items()], found.content)


async def _unless_gone(protocol: Any, call: Coroutine[Any, Any, _Answer]) -> _Answer:
    """Return the result of the call; cancel the call, if it still waits, when the client closes the connection."""
    gone, calling = asyncio.ensure_future(protocol.client_disconnect()), asyncio.ensure_future(call)
    gone.add_done_callback(lambda _gone: calling.cancel())
    try:
        return await calling
    except asyncio.CancelledError:
        raise _Refused(499, "Client Closed Request") from None
    finally:
        gone.cancel()


def _environment(scope: Any) -> dict[str, Any]:
    """Build the WSGI environment from the head of a request. Raises _Refused for a malformed head.

    Headers with an underscore are dropped, as proxies drop them: in WSGI, `X_Forwarded_For` and `X-Forwarded-For` would have
    the same name.
    """
    version = "1.0" if scope.http_version == "1" else scope.http_version
    server, client = scope.server.rpartition(":"), scope.client.rpartition(":")
    environ: dict[str, Any] = _CONSTANTS | {
        "wsgi.file_wrapper": _File,
        "SERVER_NAME": server[0],
        "SERVER_PORT": server[2],
        "REMOTE_ADDR": client[0].strip("[]"),
        "REMOTE_PORT": client[2],
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string.encode().decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{version}",
    }
    names, size = set(), len(scope.path) + len(scope.query_string)
    for name, value in scope.headers.items():
        names.add(name)
        size += len(name) + len(value)
        if "_" not in name:
            key = "HTTP_" + name.upper().replace("-", "_")
            environ[key] = value if key not in environ else f"{environ[key]}{'; ' if name == 'cookie' else ','}{value}"
    # Granian leaves out headers that are not ASCII. If a header of the proxy were missing, a stranger could be taken for the
    # proxy.
    lost = set(scope.headers.keys()) - names
    status = refusal_of(version, environ.get("HTTP_HOST"), environ.get("HTTP_TRANSFER_ENCODING"))
    if any(name in ("forwarded", "via", "x-real-ip") or name.startswith("x-forwarded-") for name in lost):
        status = 400
    # Granian would take the response to CONNECT for the start of a tunnel. Only a CONNECT request has a target without a
    # path.
    if scope.method == "CONNECT" or not scope.path:
        status = 400
    if size > _HEAD_BYTES:
        status = 431
    if status is not None:
        raise _Refused(status, HTTPStatus(status).phrase)
    for key in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if f"HTTP_{key}" in environ:
            environ[key] = environ.pop(f"HTTP_{key}")
    return environ
