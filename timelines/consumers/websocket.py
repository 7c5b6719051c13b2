"""WebSocket of the streaming API: any number of streams over one socket."""

import asyncio
from typing import Any, Final

import orjson
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from social.kernel import json
from timelines.consumers.connection import Connection
from timelines.consumers.connection_request import POLICY_VIOLATION, ConnectionRequest, refuse
from timelines.consumers.registry import ConnectionRegistry
from timelines.consumers.transports import Direct
from timelines.policies.streams import INVALID_TOKEN, Stream, StreamError, stream_of_path
from timelines.stores.messages import Message

# Close codes of RFC 6455 section 7.4.1, and 1013 from the IANA registry.
UNSUPPORTED_DATA: Final = 1003
TRY_AGAIN_LATER: Final = 1013


def _text(frame: object) -> str | None:
    """Return a value of a command as text, even an id that was sent as a number; None for values of other types."""
    if isinstance(frame, int) and not isinstance(frame, bool):
        return str(frame)
    return frame if isinstance(frame, str) else None


class StreamingConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    """Consumer of a WebSocket. The server that runs it sends the pings; see `social.asgi`."""

    def __init__(self, registry: ConnectionRegistry) -> None:
        super().__init__()
        self.registry = registry
        self.connection: Connection | None = None
        self.writer: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket until one side ends it, and release its task and connection at the end."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.writer is not None:
                self.writer.cancel()
            if self.connection is not None:
                self.connection.leave()

    async def connect(self) -> None:
        """Check the token, accept the connection with the client's subprotocol, and subscribe to the first stream."""
        connection_request = ConnectionRequest.of(self.scope)
        try:
            await connection_request.check_network()
            identity = await connection_request.identify()
            direct = Direct.of(self.scope)
            connection = Connection(
                self.registry,
                identity,
                self._send,
                self._close,
                self._report_error,
                write=direct.write if direct is not None else None,
                abort=direct.abort if direct is not None else None,
                address=connection_request.address,
            )
            self.connection = connection
            if not await connection.open():
                raise StreamError(401, INVALID_TOKEN)
        except StreamError as error:
            await refuse(self.scope, self.base_send, error)
            raise StopConsumer from None
        await self.accept(connection_request.protocol)
        self.writer = asyncio.create_task(connection.serve())
        try:
            query, path = connection_request.query, connection_request.path
            name = query.get("stream") or (stream_of_path(path) if path else None)
            if name is not None:
                await connection.subscribe(name, query.get("tag"), query.get("list"))
        except StreamError as error:
            connection.report_error(error)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle a command to subscribe or unsubscribe. Too many commands, or a binary message, close the socket (security row
        70).
        """
        if text_data is None:
            await self.close(UNSUPPORTED_DATA)
            raise StopConsumer
        connection = self.connection
        if connection is None:
            return
        try:
            connection.take_command()
        except StreamError:
            await self._close(too_slow=False)
            raise StopConsumer from None
        try:
            command = json.loads(text_data)
        except ValueError:
            return
        if not isinstance(command, dict):
            return
        name, tag, named_list = (_text(command.get(key)) for key in ("stream", "tag", "list"))
        try:
            if command.get("type") == "subscribe":
                await connection.subscribe(name or "", tag, named_list)
            elif command.get("type") == "unsubscribe":
                connection.unsubscribe(name or "", tag, named_list)
        except StreamError as error:
            connection.report_error(error)

    async def _send(self, stream: Stream, message: Message) -> None:
        await self.send(message.websocket_text(stream.label))

    async def _close(self, too_slow: bool) -> None:
        await self.close(TRY_AGAIN_LATER if too_slow else POLICY_VIOLATION)

    async def _report_error(self, error: StreamError) -> None:
        await self.send(orjson.dumps({"error": error.text, "status": error.status}).decode())
