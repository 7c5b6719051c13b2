"""Routes connections to consumers: the streaming process serves only `/api/v1/streaming` and the paths below it."""

from typing import Any

import orjson

from social.kernel import links
from timelines.consumers.connection_request import PREFIX, keep_refusals_quiet, refuse
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.server_sent import ServerSentConsumer
from timelines.consumers.websocket import StreamingConsumer
from timelines.policies.streams import MISSING_PATH, StreamError


def _with_closing(send: Any) -> Any:
    # A response closes its connection, so that bytes after a request are never interpreted as another request, even if this
    # server and a proxy read the request's length differently.

    async def send_last(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return send_last


class StreamingApplication:
    """ASGI application of the streaming process. Works with and without the lifespan protocol."""

    def __init__(self) -> None:
        self.registry = ConnectionRegistry()
        keep_refusals_quiet()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection, or handle the startup and shutdown of the process."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        if scope["type"] == "http":
            send = _with_closing(send)
        path = links.with_single_slashes(scope["path"])
        scope = {**scope, "path": path}
        is_streaming = path == PREFIX or path.startswith(f"{PREFIX}/")
        if scope["type"] == "websocket":
            if is_streaming:
                await StreamingConsumer(self.registry)(scope, receive, send)
            else:
                await receive()
                await refuse(scope, send, StreamError(404, MISSING_PATH))
        elif is_streaming:
            await ServerSentConsumer(self.registry)(scope, receive, send)
        else:
            headers = [(b"content-type", b"application/json; charset=utf-8"), (b"access-control-allow-origin", b"*")]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": orjson.dumps({"error": MISSING_PATH})})

    async def _run_lifespan(self, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.registry.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.registry.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return
