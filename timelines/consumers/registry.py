"""Registry of the connections of this process, which decodes each message once and delivers it to all listeners."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Protocol

from social.api import addresses, refused_networks
from social.kernel import clock, heartbeats
from social.kernel.streams import Hub
from timelines.consumers.allowances import Allowances
from timelines.consumers.threads import in_thread
from timelines.consumers.viewers import FilteredEvents, Viewers
from timelines.policies import streams
from timelines.policies.access import FeedAccess
from timelines.queries.fan_out import list_valid_tokens
from timelines.queries.public import load_accesses
from timelines.services.presence import record_presence
from timelines.stores import channels
from timelines.stores.messages import Message

logger = logging.getLogger(__name__)

Listener = Callable[[Message], None]

SWEEP_SECONDS: Final = 60.0
"""Interval at which the tokens of all connections are checked, in case a revocation message was lost."""

WATCH_SECONDS: Final = 5.0
"""Interval at which refused networks and the access setting of public timelines are read."""

STOP_SECONDS: Final = 0.5

MAX_CONNECTIONS: Final = 64
"""Limit on open connections with one token in a process: enough for several windows, and for broken connections."""

MAX_OF_ACCOUNT: Final = 128
"""Limit on open connections of one account in a process, with any tokens (security row 69)."""

MAX_FROM_ADDRESS: Final = 512
"""Limit on connections from one IP address in a process; a school or an office may share an address."""

# Security row 70. A reconnecting client may subscribe to all its streams at the same time, in several windows.
_COMMANDS_AT_ONCE: Final = 400
_COMMANDS_A_SECOND: Final = 8.0

PRESENCE_SECONDS: Final = 6 * 3600.0
"""Interval at which a user who only keeps a stream open is marked as active."""


class Listening(Protocol):
    """Interface of a connection for the registry."""

    @property
    def token_id(self) -> int: ...

    @property
    def account_id(self) -> int: ...

    @property
    def address(self) -> str: ...

    def end(self) -> None:
        """Close the connection because its token is no longer valid or its network is refused."""
        ...

    async def review_access(self) -> None:
        """Adjust the public streams to what the viewer may read."""
        ...


_BOUNDS: Final = (
    ("token", MAX_CONNECTIONS, streams.TOO_MANY_SOCKETS),
    ("account", MAX_OF_ACCOUNT, streams.TOO_MANY_OF_ACCOUNT),
    ("address", MAX_FROM_ADDRESS, streams.TOO_MANY_FROM_ADDRESS),
)


def _keys_of(connection: Listening) -> dict[str, Hashable]:
    # The keys by which connections are counted, one for each kind in _BOUNDS.
    keys: dict[str, Hashable] = {"token": connection.token_id, "account": connection.account_id}
    address = addresses.connection_key(connection.address)
    return keys if address is None else keys | {"address": address}


class ConnectionRegistry:
    """Registry of connections, one for each event loop; call `start` inside the loop."""

    def __init__(self) -> None:
        self.viewers = Viewers()
        self.filtered_events = FilteredEvents()
        self._listeners: dict[str, dict[Listener, None]] = {}
        self._connections: dict[Listening, float] = {}
        self._open: Counter[tuple[str, Hashable]] = Counter()
        self._commands = Allowances(_COMMANDS_AT_ONCE, _COMMANDS_A_SECOND)
        self._hub = Hub()
        self._tasks: list[asyncio.Task[None]] = []
        self._access: tuple[FeedAccess, ...] | None = None

    def start(self) -> None:
        """Connect the hub and start the heartbeat, the sweep and the watch; a second call does nothing."""
        if self._tasks:
            return
        self._hub.start()
        unwatched = "Refused networks and open timelines could not be asked for"
        work = (
            self._beat(),
            self._run_every(self.sweep, SWEEP_SECONDS, "Open streams could not be checked"),
            self._run_every(self.watch, WATCH_SECONDS, unwatched),
            self._run_every(self.viewers.renew, WATCH_SECONDS, "Viewers of public streams could not be read again"),
        )
        self._tasks = [asyncio.create_task(each) for each in work]
        self.listen(channels.HOMES, self._receive_for_homes)

    async def stop(self) -> None:
        """Stop the tasks and the hub's connection."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # On Python 3.11 a write that ends at the same moment can swallow the hub's cancellation; the hub is then cancelled
        # again when the event loop ends.
        await asyncio.wait([asyncio.create_task(self._hub.stop())], timeout=STOP_SECONDS)

    @property
    def connections(self) -> int:
        return len(self._connections)

    def enter(self, connection: Listening) -> None:
        """Register a connection. Raises StreamError (429) when its token, account or address has too many connections."""
        keys = _keys_of(connection)
        for kind, most, reason in _BOUNDS:
            if kind in keys and self._open[kind, keys[kind]] >= most:
                raise streams.StreamError(429, reason)
        self.take_command(connection.account_id)
        self._open.update(keys.items())
        self._connections[connection] = time.monotonic()

    def take_command(self, account_id: int) -> None:
        """Count a command from an account, whichever of its connections sent it.

        Raises StreamError (429) after too many commands.
        """
        if not self._commands.take(account_id):
            raise streams.StreamError(429, streams.TOO_MANY_COMMANDS)

    def leave(self, connection: Listening) -> None:
        """Unregister a connection; an unknown connection is ignored."""
        if self._connections.pop(connection, None) is not None:
            for key in _keys_of(connection).items():
                self._open[key] -= 1
                if not self._open[key]:
                    del self._open[key]

    def listen(self, channel: str, listener: Listener) -> None:
        """Call `listener` with every message on the channel. The listener must neither block nor raise."""
        listeners = self._listeners.setdefault(channel, {})
        listeners[listener] = None
        if len(listeners) == 1:
            self._hub.subscribe(channel, self._receive)

    def unlisten(self, channel: str, listener: Listener) -> None:
        """Remove a listener from a channel; an unknown listener is ignored."""
        listeners = self._listeners.get(channel)
        if listeners is None or listener not in listeners:
            return
        del listeners[listener]
        if not listeners:
            del self._listeners[channel]
            self._hub.unsubscribe(channel, self._receive)

    async def settle(self, *names: str) -> None:
        """Wait until messages on these channels are certain to arrive, but at most one second if Redis does not respond."""
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
        message.received_at = clock.now()
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

    async def _run_every(self, act: Callable[[], Awaitable[None]], seconds: float, failure: str) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await act()
            except Exception:
                # The database may be temporarily unavailable; the next run tries again.
                logger.exception(failure)

    async def watch(self) -> None:
        """End connections from refused networks; after a change of the access setting, adjust all public streams."""
        if not self._connections:
            return
        await in_thread(refused_networks.refresh)
        for connection in list(self._connections):
            if refused_networks.is_known_to_be_refused(connection.address):
                connection.end()
        access = await in_thread(load_accesses)
        if access != self._access:
            for connection in list(self._connections):
                await connection.review_access()
            # The settings are stored only after all connections were reviewed, so that an error leads to a retry.
            self._access = access

    async def sweep(self) -> None:
        """End the connections whose tokens are no longer valid, and mark users who have been connected for hours as active."""
        connections = list(self._connections)
        if not connections:
            return
        good = await in_thread(list_valid_tokens, {connection.token_id for connection in connections})
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
