"""Event streams (SSE) of the streaming API: one stream per request, named by the path."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import orjson
from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer

from timelines.consumers.connection import Connection
from timelines.consumers.connection_request import ConnectionRequest, retry_after
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.transports import Direct
from timelines.policies.streams import INVALID_TOKEN, MISSING_PATH, Stream, StreamError, stream_of_path
from timelines.stores.messages import Message

HEARTBEAT_SECONDS: Final = 15.0
_GREETING: Final = b":)\n"
_HEARTBEAT: Final = b":thump\n"
_CORS: Final = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Cache-Control, Last-Event-ID, X-Requested-With"),
    (b"access-control-allow-methods", b"GET, OPTIONS"),
]
_JSON: Final = (b"content-type", b"application/json; charset=utf-8")
_CACHE_CONTROL: Final = (b"cache-control", b"private, no-store")


class ServerSentConsumer(AsyncConsumer):  # type: ignore[misc]  # Channels has no types
    """Consumer of a request. Responds with an event stream or with an error in JSON; also serves the health check."""

    def __init__(self, registry: ConnectionRegistry) -> None:
        self.registry = registry
        self.connection: Connection | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self._writing = asyncio.Lock()

    async def dispatch(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.disconnect":
            raise StopConsumer
        if not message.get("more_body") and not self.tasks:
            await self.http_request()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the request, and release its tasks and connection at the end."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            for task in self.tasks:
                task.cancel()
            if self.connection is not None:
                self.connection.leave()

    async def http_request(self) -> None:
        """Respond, or start the stream and keep waiting for the client's disconnect."""
        connection_request = ConnectionRequest.of(self.scope)
        if self.scope["method"] == "OPTIONS":
            await self._answer(204, b"", [])
        elif self.scope["method"] not in ("GET", "HEAD"):
            await self._answer(404, orjson.dumps({"error": MISSING_PATH}), [_JSON])
        elif connection_request.path == "health":
            self.registry.start()
            await self._answer(200, b"OK", [(b"content-type", b"text/plain; charset=utf-8"), _CACHE_CONTROL])
        else:
            await self._stream(connection_request)

    async def _stream(self, connection_request: ConnectionRequest) -> None:
        try:
            await connection_request.check_network()
            name = stream_of_path(connection_request.path, only_media=connection_request.flag("only_media"))
            identity = await connection_request.identify()
            direct = Direct.of(self.scope)
            connection = Connection(
                self.registry,
                identity,
                self._write,
                self._close,
                abort=direct.abort if direct is not None else None,
                address=connection_request.address,
            )
            self.connection = connection
            if not await connection.open():
                raise StreamError(401, INVALID_TOKEN)
            await connection.subscribe(name, connection_request.query.get("tag"), connection_request.query.get("list"))
        except StreamError as error:
            headers = [_JSON, _CACHE_CONTROL, *retry_after(error)]
            await self._answer(error.status, orjson.dumps({"error": error.text}), headers)
            return
        headers = [(b"content-type", b"text/event-stream"), _CACHE_CONTROL, (b"x-accel-buffering", b"no"), *_CORS]
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._body(_GREETING)
        self.tasks = [asyncio.create_task(connection.serve()), asyncio.create_task(self._send_heartbeats())]

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self._body(_HEARTBEAT)

    async def _write(self, _stream: Stream, message: Message) -> None:
        await self._body(message.server_sent_text().encode())

    async def _close(self, _too_slow: bool) -> None:
        async with self._writing:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _body(self, data: bytes) -> None:
        async with self._writing:
            await self.send({"type": "http.response.body", "body": data, "more_body": True})

    async def _answer(self, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        length = (b"content-length", str(len(body)).encode())
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers, length, *_CORS]})
        body = b"" if self.scope["method"] == "HEAD" else body
        await self.send({"type": "http.response.body", "body": body, "more_body": False})
        raise StopConsumer
