"""Knows, in one streaming process, which connection listens on which channel, and hands each message to all of them.

The kernel's hub holds one subscription per channel, however many connections listen; a message is decoded once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from social.kernel import heartbeats
from social.kernel.streams import Hub
from timelines.consumers.threads import in_thread
from timelines.consumers.viewers import Viewers
from timelines.policies.streams import TOO_MANY_SOCKETS, StreamError
from timelines.queries.streaming import list_good_tokens
from timelines.services.presence import record_presence
from timelines.stores import channels
from timelines.stores.messages import Message

logger = logging.getLogger(__name__)

Listener = Callable[[Message], None]

SWEEP_SECONDS: Final = 60.0
"""How often the tokens of all connections are looked up, should a revocation not have been heard."""

STOP_SECONDS: Final = 0.5

MAX_CONNECTIONS: Final = 64
"""Connections that one access token may have open in a process: several windows of one client, and some that broke."""

PRESENCE_SECONDS: Final = 6 * 3600.0
"""How often somebody who only keeps a stream open is marked as active."""


class Listening(Protocol):
    """A connection, as the registry sees it."""

    @property
    def token_id(self) -> int:
        """The token it was opened with."""
        ...

    @property
    def account_id(self) -> int:
        """Whose token that is."""
        ...

    def end(self) -> None:
        """Close it: its token is good no more."""
        ...


class ConnectionRegistry:
    """One per event loop; `start` it once, inside the loop."""

    def __init__(self) -> None:
        self.viewers = Viewers()
        self._listeners: dict[str, dict[Listener, None]] = {}
        self._connections: dict[Listening, float] = {}
        self._per_token: Counter[int] = Counter()
        self._hub = Hub()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Connect the hub and begin the heartbeat and the sweep; a second call does nothing."""
        if self._tasks:
            return
        self._hub.start()
        self._tasks = [asyncio.create_task(self._beat()), asyncio.create_task(self._sweep())]
        self.listen(channels.HOMES, self._receive_for_homes)

    async def stop(self) -> None:
        """End the tasks and the hub's connection."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # On Python 3.11 a write that ends in the same moment can swallow the hub's cancellation. Then it is left to the
        # end of the event loop, which cancels it once more.
        await asyncio.wait([asyncio.create_task(self._hub.stop())], timeout=STOP_SECONDS)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def enter(self, connection: Listening) -> None:
        """Watch over a connection's token from now on. Raises StreamError (429) when too many have the same one."""
        if self._per_token[connection.token_id] >= MAX_CONNECTIONS:
            raise StreamError(429, TOO_MANY_SOCKETS)
        self._per_token[connection.token_id] += 1
        self._connections[connection] = time.monotonic()

    def leave(self, connection: Listening) -> None:
        """Forget a connection; one that was never entered is no error."""
        if self._connections.pop(connection, None) is not None:
            self._per_token[connection.token_id] -= 1
            if not self._per_token[connection.token_id]:
                del self._per_token[connection.token_id]

    def listen(self, channel: str, listener: Listener) -> None:
        """Call `listener` with every message on the channel. It must neither block nor raise."""
        listeners = self._listeners.setdefault(channel, {})
        listeners[listener] = None
        if len(listeners) == 1:
            self._hub.subscribe(channel, self._receive)

    def unlisten(self, channel: str, listener: Listener) -> None:
        """The reverse; a listener that is not there is no error."""
        listeners = self._listeners.get(channel)
        if listeners is None or listener not in listeners:
            return
        del listeners[listener]
        if not listeners:
            del self._listeners[channel]
            self._hub.unsubscribe(channel, self._receive)

    async def settle(self, *names: str) -> None:
        """Return when what is sent on these channels from now on arrives; after a second if Redis does not answer."""
        await self._hub.settled(*names)

    def _receive(self, channel: str, data: bytes) -> None:
        listeners = self._listeners.get(channel)
        if not listeners:
            return
        try:
            message = Message.decode(data)
        except ValueError:
            logger.warning("What came on channel %s is not a message: dropped", channel)
            return
        for listener in list(listeners):
            listener(message)

    def _receive_for_homes(self, message: Message) -> None:
        for account_id in message.recipients:
            for listener in list(self._listeners.get(channels.home(account_id), ())):
                listener(message)

    async def _beat(self) -> None:
        while True:
            await in_thread(heartbeats.beat, "streaming")
            await asyncio.sleep(heartbeats.INTERVAL)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.sweep()
            except Exception:
                # The database may be away for a moment; the next sweep comes.
                logger.exception("Open streams could not be checked")

    async def sweep(self) -> None:
        """End the connections whose tokens are good no more, and mark who has been connected for long as active."""
        connections = list(self._connections)
        if not connections:
            return
        good = await in_thread(list_good_tokens, {connection.token_id for connection in connections})
        for connection in connections:
            if connection.token_id not in good:
                connection.end()
        now = time.monotonic()
        present = {c.account_id: c for c in connections if now - self._connections.get(c, now) > PRESENCE_SECONDS}
        if present:
            await in_thread(record_presence, *present)
            for connection in connections:
                if connection.account_id in present and connection in self._connections:
                    self._connections[connection] = now
