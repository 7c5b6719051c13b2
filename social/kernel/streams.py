"""Messages to open connections through Redis: PUBLISH on one side, one subscription per process on the other.

Nothing is stored: a message published without a subscriber, or while Redis is down, is lost. Clients fetch what they missed.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from social.kernel import redis

logger = logging.getLogger(__name__)
Callback = Callable[[str, bytes], None]

# Seconds between pings, and seconds without an answer after which a connection is closed. A Redis that vanishes without
# closing the connection would otherwise leave the process without messages for ever.
_PING_INTERVAL: Final = 10.0
_READ_TIMEOUT: Final = 25.0
_FIRST_WAIT: Final = 0.1
_WAIT_LIMIT: Final = 2.0


def channel_key(channel: str) -> str:
    return redis.key("streams", channel)


def publish(channel: str, payload: bytes) -> None:
    """Send bytes to every hub subscribed to the channel. Never raises. When Redis is down, the first call waits a fifth of a
    second at most, and calls in the next second do not wait.
    """
    with redis.best_effort("publish on a stream"):
        redis.client("streams").publish(channel_key(channel), payload)


async def _end_tasks(*tasks: asyncio.Task[None]) -> None:
    """Cancel the tasks again and again until all have ended. Once is not enough: redis-py sends and connects with
    `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that comes together with its result.
    """
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=0.1)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # retrieved, because otherwise the loop logs an error when the task is garbage-collected


class Hub:
    """Connection for all subscriptions of a streaming process, whatever the number of its listeners.

    Callbacks get (channel, bytes) on the event loop and must not block; an error in a callback is logged and affects no other
    callback. When Redis comes back, a new connection is made and subscribed to all channels. All methods must be called on the
    loop on which `start` was called.
    """

    def __init__(self) -> None:
        self._callbacks: dict[str, dict[Callback, None]] = {}
        self._asked: set[str] = set()
        self._unconfirmed: Counter[str] = Counter()
        self._confirmed: set[str] = set()
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start listening on the running loop; do nothing when the hub is listening already."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Close the connection; the subscriptions stay for the next `start`."""
        if self._task is not None:
            await _end_tasks(self._task)
            self._task = None
            self._forget()

    def subscribe(self, channel: str, callback: Callback) -> None:
        """Call the callback for each message of the channel, once Redis has confirmed the subscription (see `settled`)."""
        self._callbacks.setdefault(channel, {})[callback] = None
        self._changed.set()

    def unsubscribe(self, channel: str, callback: Callback) -> None:
        """Stop calling the callback for the channel, immediately; do nothing if the callback is not subscribed."""
        callbacks = self._callbacks.get(channel)
        if callbacks is None:
            return
        callbacks.pop(callback, None)
        if not callbacks:
            del self._callbacks[channel]
            self._changed.set()

    async def settled(self, *channels: str, seconds: float = 1.0) -> bool:
        """Wait until Redis has confirmed the subscriptions: messages published afterwards are then received.

        Returns False after `seconds` (Redis is down): the channels are subscribed as soon as Redis is back.
        """
        futures = []
        for channel in channels:
            if channel not in self._confirmed or channel not in self._asked:
                futures.append(asyncio.get_running_loop().create_future())
                self._waiting.setdefault(channel, []).append(futures[-1])
        if not futures:
            return True
        _, pending = await asyncio.wait(futures, timeout=seconds)
        for future in pending:
            future.cancel()
        return not pending

    async def _run(self) -> None:
        wait = _FIRST_WAIT
        while True:
            try:
                await self._serve()
            except (redis.RedisError, OSError) as error:
                connected = bool(self._confirmed)
                if connected or wait == _FIRST_WAIT:
                    logger.warning("The stream hub has lost Redis (%s): trying again", error)
                wait = _FIRST_WAIT if connected else min(wait * 2, _WAIT_LIMIT)
            self._forget()
            await asyncio.sleep(wait)

    def _forget(self) -> None:
        self._asked.clear()
        self._confirmed.clear()
        self._unconfirmed.clear()

    async def _serve(self) -> None:
        connection = redis.subscriber("streams")
        tasks: list[asyncio.Task[None]] = []
        try:
            await connection.connect()  # type: ignore[no-untyped-call]  # redis-py has no types here
            # A TaskGroup is not used, because until Python 3.13 it forgets that it was cancelled when one of its tasks fails at
            # that moment.
            tasks = [asyncio.create_task(self._write(connection)), asyncio.create_task(self._read(connection))]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await _end_tasks(*tasks)
            await connection.disconnect(nowait=True)

    async def _write(self, connection: Any) -> None:
        """Send SUBSCRIBE and UNSUBSCRIBE whenever the wanted channels change, and pings in between."""
        while True:
            self._changed.clear()
            wanted = set(self._callbacks)
            for command, channels in (("SUBSCRIBE", wanted - self._asked), ("UNSUBSCRIBE", self._asked - wanted)):
                if not channels:
                    continue
                if command == "SUBSCRIBE":
                    self._unconfirmed.update(channels)
                self._confirmed -= channels
                self._asked ^= channels
                await connection.send_command(command, *map(channel_key, channels))
            try:
                # `asyncio.wait_for` is not used, because until Python 3.12 it can swallow a cancellation.
                async with asyncio.timeout(_PING_INTERVAL):
                    await self._changed.wait()
            except TimeoutError:
                await connection.send_command("PING")

    async def _read(self, connection: Any) -> None:
        prefix = len(channel_key(""))
        while True:
            reply = await connection.read_response(timeout=_READ_TIMEOUT)
            if reply is None:
                raise TimeoutError(f"no answer to a ping in {_READ_TIMEOUT:.0f} s")
            # A ping before the first subscription is answered by a plain status, which is skipped.
            if not isinstance(reply, list):
                continue
            if reply[0] == b"message":
                self._deliver(reply[1].decode()[prefix:], reply[2])
                # This lets the event loop send the message before the next one is delivered. Without the pause, messages that
                # arrive together would fill the send buffers even of clients that read quickly.
                await asyncio.sleep(0)
            elif reply[0] == b"subscribe":
                self._confirm(reply[1].decode()[prefix:])

    def _confirm(self, channel: str) -> None:
        self._unconfirmed[channel] -= 1
        # An earlier subscription may be confirmed after the channel was unsubscribed and subscribed again, so only the last
        # confirmation counts.
        if self._unconfirmed[channel] > 0:
            return
        del self._unconfirmed[channel]
        self._confirmed.add(channel)
        for future in self._waiting.pop(channel, ()):
            if not future.done():
                future.set_result(None)

    def _deliver(self, channel: str, payload: bytes) -> None:
        for callback in tuple(self._callbacks.get(channel, ())):
            try:
                callback(channel, payload)
            except Exception:
                logger.exception("A listener on %s failed", channel)
