"""Streaming connections of every kind: their subscriptions, a bounded queue, and the reasons to close them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from social.api import addresses
from social.api.identities import Identity
from social.kernel import clock
from social.kernel.ids import parse_id
from social.kernel.text.names import normalise_hashtag
from timelines.consumers.allowances import Allowances
from timelines.consumers.registry import ConnectionRegistry, Listener
from timelines.consumers.threads import in_thread
from timelines.consumers.viewers import Watched
from timelines.policies import streams
from timelines.policies.access import HASHTAG, LIVE
from timelines.queries.fan_out import list_valid_tokens
from timelines.queries.lists import owns_list
from timelines.queries.public import load_origins
from timelines.services.home import build_open_feed
from timelines.stores import channels
from timelines.stores.messages import CONNECTION_END, Message

logger = logging.getLogger(__name__)

QUEUE_SIZE: Final = 256
"""Limit on the events queued for one client; a client that falls further behind is disconnected and may reconnect."""

MAX_STREAMS: Final = 100

# Security row 70. A connection may subscribe to all its streams at the same time.
_COMMANDS_AT_ONCE: Final = 150
_COMMANDS_A_SECOND: Final = 2.0
TOO_MANY_STREAMS: Final = "Too many streams on one connection"

# An event for a stream, an error to send, or the end of the connection (True if the client is too slow, otherwise False).
_Item = tuple[streams.Stream, Message] | streams.StreamError | bool


def _normalised(tag: str | None) -> str:
    return normalise_hashtag((tag or "").removeprefix("#"))


def _key(name: str, tag: str | None, named_list: str | None) -> tuple[str, str]:
    if name == "list":
        return name, str(parse_id(named_list))
    return name, _normalised(tag) if name.startswith("hashtag") else ""


class Connection:
    """Connection of a client, WebSocket or event stream.

    `send` writes an event, `report_error` an error about a command, `close` ends the transport (True: the client is too slow,
    False: its token is invalid). `send`, `report_error` and `close` are called in the connection's own task. `write` sends the
    frame of a WebSocket immediately, or returns False if the client has not read earlier data yet; it is called only while the
    queue is empty. `abort` ends the transport soon, even if the client does not read.
    """

    def __init__(
        self,
        registry: ConnectionRegistry,
        identity: Identity,
        send: Callable[[streams.Stream, Message], Awaitable[None]],
        close: Callable[[bool], Awaitable[None]],
        report_error: Callable[[streams.StreamError], Awaitable[None]] | None = None,
        *,
        write: Callable[[bytes], bool] | None = None,
        abort: Callable[[], None] | None = None,
        address: str = addresses.UNKNOWN,
    ) -> None:
        assert identity.account_id is not None
        assert identity.user_id is not None
        self.identity = identity
        self.account_id: int = identity.account_id
        self.user_id: int = identity.user_id
        self.token_id: int = identity.token_id
        self.address = address
        self._registry = registry
        self._send, self._close, self._report_error = send, close, report_error
        self._write, self._abort = write, abort
        self._waits = False
        # Keyed by stream name and normalised hashtag or list: #Cats and #cats are the same stream.
        self._streams: dict[tuple[str, str], tuple[streams.Stream, Listener]] = {}
        self._queue: asyncio.Queue[_Item] = asyncio.Queue()
        self._watched: Watched | None = None
        self._commands = Allowances(_COMMANDS_AT_ONCE, _COMMANDS_A_SECOND)
        self._ended = False
        self._review: asyncio.Task[None] | None = None
        self._user_changes = 0

    async def open(self) -> bool:
        """Register the connection, unless its token is revoked (False). Raises StreamError (429) for too many connections."""
        self._registry.start()
        self._registry.enter(self)
        self._registry.listen(channels.token(self.token_id), self._on_token)
        self._registry.listen(channels.user(self.user_id), self._on_user)
        await self._registry.settle(channels.HOMES, channels.token(self.token_id), channels.user(self.user_id))
        # No revocation is missed, because this query finds earlier revocations, and later revocations arrive as messages.
        return self.token_id in await in_thread(list_valid_tokens, [self.token_id])

    async def subscribe(self, name: str, tag: str | None = None, named_list: str | None = None) -> None:
        """Subscribe to a stream, unless the connection has already subscribed to it or has ended. Raises StreamError."""
        if self.has_ended():
            return
        streams.check_name(name, tag)
        stream = await self._stream(name, tag, named_list)
        if self.has_ended():
            return
        key = _key(name, tag, named_list)
        if key in self._streams:
            return
        if len(self._streams) >= MAX_STREAMS:
            raise streams.StreamError(400, TOO_MANY_STREAMS)
        if stream.filtered and self._watched is None:
            await self._watch()
        # A mute or a block withdraws the posts that the feed contains, so the feed must exist before the first event.
        has_feed, list_id = name in ("user", "list"), parse_id(named_list) if name == "list" else None
        if has_feed:
            await in_thread(build_open_feed, self.account_id, list_id)
        if not self.has_ended():
            self._listen(key, stream)
            await self._registry.settle(*stream.channels)
            if has_feed:
                # The feed is built again after the subscription, because a process that dropped the feed in between has rebuilt
                # it only if it saw a subscriber.
                await in_thread(build_open_feed, self.account_id, list_id)

    def take_command(self) -> None:
        """Count a message of the client. Raises StreamError (429) if the connection or the account has sent too many."""
        if not self._commands.take(None):
            raise streams.StreamError(429, streams.TOO_MANY_COMMANDS)
        self._registry.take_command(self.account_id)

    def has_ended(self) -> bool:
        """Tell whether the connection has ended or is about to be closed."""
        return self._ended

    async def _watch(self) -> None:
        watched = self._watched = self._registry.viewers.take(self.account_id)
        self._registry.listen(channels.relations(self.account_id), watched.forget)
        # The viewer is loaded after the subscription, so that no change is missed. It is loaded now, because at the first event
        # thousands of connections might have to load their viewers at the same time.
        await self._registry.settle(channels.relations(self.account_id))
        await watched.get()

    async def _stream(self, name: str, tag: str | None, named_list: str | None = None) -> streams.Stream:
        origins: tuple[bool, bool] | None = (True, True)
        if name.startswith(("hashtag", "public")):
            kind = HASHTAG if name.startswith("hashtag") else LIVE
            origins = await in_thread(load_origins, kind, self.account_id, local=True, remote=True)
        list_id = parse_id(named_list) if name == "list" else None
        if list_id is not None and not await in_thread(owns_list, self.account_id, list_id):
            list_id = None
        return streams.open_stream(
            name,
            account_id=self.account_id,
            token_id=self.token_id,
            scopes=self.identity.scopes,
            tag=tag,
            normalised_tag=_normalised(tag),
            origins=origins or (False, False),
            named_list=named_list,
            own_list_id=list_id,
        )

    def _listen(self, key: tuple[str, str], stream: streams.Stream) -> None:
        listener = partial(self.enqueue, stream)
        self._streams[key] = (stream, listener)
        for channel in stream.channels:
            self._registry.listen(channel, listener)

    async def review_access(self) -> None:
        """Renew the public streams if the current access setting shows the viewer other origins (local or remote posts)."""
        for key, (stream, listener) in list(self._streams.items()):
            if not stream.filtered:
                continue
            name, *tag = stream.label
            renewed = await self._stream(name, tag[0] if tag else None)
            if renewed != stream and self._streams.get(key) == (stream, listener):
                self._stop_listening(stream, listener)
                self._listen(key, renewed)

    def unsubscribe(self, name: str, tag: str | None = None, named_list: str | None = None) -> None:
        """End the subscription to a stream, if there is one. Raises StreamError for a name or hashtag that is too long."""
        streams.check_name(name, tag)
        found = self._streams.pop(_key(name, tag, named_list), None)
        if found is not None:
            self._stop_listening(*found)

    def _stop_listening(self, stream: streams.Stream, listener: Listener) -> None:
        for channel in stream.channels:
            self._registry.unlisten(channel, listener)

    def enqueue(self, stream: streams.Stream, message: Message) -> None:
        """Send the client an event, or queue it. If too many events are queued, the connection ends."""
        if message.withdrawn is not None and not streams.has_shown(stream, message.withdrawn):
            return
        if not self._write_directly(stream, message):
            self._put((stream, message))

    def _write_directly(self, stream: streams.Stream, message: Message) -> bool:
        # Sends an event or filters it out without waking the connection's task, which saves time with thousands of listeners;
        # returns whether this was possible.
        if self._write is None or not self._waits or self._ended or not self._queue.empty():
            return False
        watched = self._watched
        if stream.filtered and message.facts is not None and watched is not None:
            viewer = watched.cached
            if viewer is None:
                return False
            if streams.is_hidden_from_viewer(stream, message.facts, viewer, message.received_at or clock.now()):
                return True
            if viewer.filters:
                return False
        return self._write(message.websocket_frame(stream.label))

    def report_error(self, error: streams.StreamError) -> None:
        """Queue the error of a command for the client, after earlier events."""
        self._put(error)

    def _put(self, item: _Item) -> None:
        if self._ended:
            return
        if self._queue.qsize() >= QUEUE_SIZE:
            self._finish(too_slow=True)
            return
        self._queue.put_nowait(item)

    def end(self) -> None:
        """Close the connection because its token is no longer valid or its network is refused. Queued events are not sent."""
        self._finish(too_slow=False)

    def _finish(self, *, too_slow: bool) -> None:
        if self._ended:
            return
        self._ended = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(too_slow)
        # The connection is unregistered now, because its task may be waiting for a client that never reads.
        self.leave()
        if self._abort is not None:
            self._abort()

    def _on_token(self, message: Message) -> None:
        if message.event == CONNECTION_END:
            self.end()

    def _on_user(self, _message: Message) -> None:
        self._user_changes += 1
        if self._review is None or self._review.done():
            self._review = asyncio.create_task(self._check_user_again())

    async def _check_user_again(self) -> None:
        looked_at = None
        # If the user changed again during the query, the result may be outdated, so the query is repeated.
        while looked_at != self._user_changes:
            looked_at = self._user_changes
            try:
                good = await in_thread(list_valid_tokens, [self.token_id])
            except Exception:
                logger.exception("A stream could not be checked: the sweep will")
                return
            if self.token_id not in good:
                self.end()
                return

    async def serve(self) -> None:
        """Run `run` in a task that nobody awaits."""
        try:
            await self.run()
        except Exception:
            # Usually the client has disappeared, and its disconnect event follows.
            logger.debug("A stream ended", exc_info=True)

    async def run(self) -> None:
        """Write events until the connection must end; then close it. Cancel the task when the client has disconnected."""
        while True:
            self._waits = True
            item = await self._queue.get()
            self._waits = False
            if isinstance(item, bool):
                await self._close(item)
                return
            if isinstance(item, streams.StreamError):
                if self._report_error is not None:
                    await self._report_error(item)
                continue
            stream, message = item
            if stream.filtered and message.facts is not None and self._watched is not None:
                viewer, moment = await self._watched.get(), clock.now()
                if streams.is_hidden_from_viewer(stream, message.facts, viewer, moment):
                    continue
                if viewer.filters:
                    message = await self._registry.filtered_events.get(message, viewer, moment)
                    if self.has_ended():
                        continue
            await self._send(stream, message)

    def leave(self) -> None:
        """Release everything that the connection holds; may be called twice."""
        self._ended = True
        self._registry.leave(self)
        if self._review is not None:
            self._review.cancel()
        subscribed, self._streams = self._streams, {}
        for stream, listener in subscribed.values():
            self._stop_listening(stream, listener)
        self._registry.unlisten(channels.token(self.token_id), self._on_token)
        self._registry.unlisten(channels.user(self.user_id), self._on_user)
        if self._watched is not None:
            watched, self._watched = self._watched, None
            if watched.users <= 1:
                self._registry.unlisten(channels.relations(self.account_id), watched.forget)
            self._registry.viewers.leave(watched)
