"""A hostile web server: each path is a different attack, and every request is recorded."""

import asyncio
import functools
import gzip
import json
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import quote, unquote

ACTIVITY = "application/activity+json; charset=utf-8"
DOCUMENT = json.dumps({"id": "https://remote.example/notes/1", "type": "Note", "content": "Grüße " * 20}).encode()


@dataclass(frozen=True)
class Seen:
    """A recorded request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int


@dataclass
class Attacker:
    """A server on one loopback address, in a thread; `with Attacker() as attacker: fetch(Request(attacker.url("/drip")))`."""

    host: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        listener = socket.create_server((self.host, self.port))
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, ready), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, sock=listener, ssl=self.tls))
        ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(self._abort())
        self._loop.close()

    @staticmethod
    async def _abort() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def url(self, path: str = "/document", host: str = "") -> str:
        """Return the address of a path; `host` replaces the host name."""
        return f"{'https' if self.tls else 'http'}://{host or self.host}:{self.port}{path}"

    def redirecting(self, location: str) -> str:
        """Return an address of this server that redirects to `location`."""
        return self.url(f"/to?{quote(location, safe='')}")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            while (request := await self._read(reader, number)) is not None:
                self.requests.append(request)
                path, _, query = request.target.partition("?")
                name, _, argument = path.lstrip("/").partition("/")
                attack = _ATTACKS.get(name, _missing)
                if not await attack(writer, request, unquote(query or argument)):
                    break
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    @staticmethod
    async def _read(reader: asyncio.StreamReader, number: int) -> Seen | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _version = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Seen(method, target, headers, body, number)


Attack = Callable[[asyncio.StreamWriter, Seen, str], Awaitable[bool]]
_ATTACKS: dict[str, Attack] = {}


def _attack(function: Attack) -> Attack:
    """Register a function as the response for the path with its name; the function returns whether the connection stays
    open.
    """
    _ATTACKS[function.__name__.strip("_")] = function
    return function


async def _respond(
    writer: asyncio.StreamWriter, body: bytes = b"", *headers: str, status: str = "200 OK", kind: str = ACTIVITY
) -> bool:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    if kind:
        lines.append(f"Content-Type: {kind}")
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    return True


async def _missing(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, b"<h1>Not here</h1>", status="404 Not Found", kind="text/html")


@_attack
async def _document(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, b"" if request.method == "HEAD" else DOCUMENT)


@_attack
async def _echo(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, json.dumps(request.headers).encode())


@_attack
async def _status(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    page = b"" if argument in ("204", "304") else b"x" * 100_000
    return await _respond(writer, page, status=f"{argument} Whatever", kind="text/html")


@_attack
async def _type(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, kind=argument)


@_attack
async def _two_types(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, "Content-Type: text/html")


@_attack
async def _cookie(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, "Set-Cookie: track=1; Path=/")


@_attack
async def _redirect(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    left = int(argument)
    location = f"/redirect/{left - 1}" if left > 1 else "/document"
    return await _respond(writer, b"", f"Location: {location}", status="302 Found")


@_attack
async def _to(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, b"", f"Location: {argument}", status="307 Temporary Redirect")


@_attack
async def _silent(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    await asyncio.sleep(60)
    return False


@_attack
async def _slow(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    await asyncio.sleep(float(argument))
    return await _respond(writer, DOCUMENT)


@_attack
async def _drip(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nContent-Length: 1000\r\n\r\n".encode())
    return await _one_byte_a_second(writer, b"{" + b" " * 999)


@_attack
async def _drip_headers(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _one_byte_a_second(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


@_attack
async def _continue(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.1)


async def _one_byte_a_second(writer: asyncio.StreamWriter, text: bytes) -> bool:
    for byte in text:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)
    return False


@_attack
async def _interim(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    """Send interim responses without end, as fast as they are read."""
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000)
        await writer.drain()


@_attack
async def _lines(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    """Send empty lines without end before a response."""
    while True:
        writer.write(b"\r\n" * 5000)
        await writer.drain()


@_attack
async def _extension(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    """Send a chunk with an endless extension, after `argument` bytes of the body."""
    body = f"{int(argument):x}\r\n{' ' * int(argument)}\r\n" if int(argument) else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nTransfer-Encoding: chunked\r\n\r\n{body}1;a="
    writer.write(head.encode())
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


@_attack
async def _crumbs(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    """Send a response in chunks of one byte, each with an extension of `argument` bytes."""
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    while True:
        writer.write(f"1;{'x' * int(argument)}\r\n \r\n".encode() * 1000)
        await writer.drain()


@_attack
async def _pieces(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    """Send 2,000 chunks of `argument` bytes each."""
    piece = f"{int(argument):x}\r\n{'x' * int(argument)}\r\n"
    writer.write(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{piece * 2000}0\r\n\r\n".encode())
    return False


@_attack
async def _endless(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    while True:
        writer.write(b"4000\r\n" + b" " * 0x4000 + b"\r\n")
        await writer.drain()


@_attack
async def _announced(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nContent-Length: 10000000000\r\n\r\n".encode())
    await asyncio.sleep(60)
    return False


@_attack
async def _gzip(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, gzip.compress(DOCUMENT), "Content-Encoding: gzip")


@functools.cache
def bomb() -> bytes:
    """Return 64 kB that decompress to 64 MB."""
    return gzip.compress(bytes(64 << 20))


@_attack
async def _bomb(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, bomb(), "Content-Encoding: gzip")


@_attack
async def _cut_gzip(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, gzip.compress(DOCUMENT)[:-12], "Content-Encoding: gzip")


@_attack
async def _longer_than_gzip(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, gzip.compress(DOCUMENT) + b"more", "Content-Encoding: gzip")


@_attack
async def _not_gzip(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, "Content-Encoding: gzip")


@_attack
async def _encoding(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, f"Content-Encoding: {argument}")


@_attack
async def _truncated(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {ACTIVITY}\r\nContent-Length: 100\r\n\r\n{{".encode())
    await writer.drain()
    return False


@_attack
async def _nothing(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return False


@_attack
async def _raw(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    writer.write(argument.encode("latin-1"))
    await writer.drain()
    return False


@_attack
async def _long_header(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, f"X-Long: {'x' * 100_000}")


@_attack
async def _many_headers(writer: asyncio.StreamWriter, request: Seen, argument: str) -> bool:
    return await _respond(writer, DOCUMENT, *(f"X-{number}: {'x' * 100}" for number in range(10_000)))
