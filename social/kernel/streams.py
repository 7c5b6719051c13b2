"""Knows how news reaches open connections: a plain PUBLISH on one side, one subscription per process on the other."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from social.kernel import redis

logger = logging.getLogger(__name__)
Callback = Callable[[str, bytes], None]
_RECONNECT_SECONDS: Final = 0.5


def channel_key(channel: str) -> str:
    """What the channel is called inside Redis."""
    return redis.key("streams", channel)


def publish(channel: str, payload: bytes) -> None:
    """Send bytes to every hub subscribed to the channel. Never raises; costs a quarter of a second when Redis is dead."""
    with redis.best_effort("publish on a stream"):
        redis.client("streams").publish(channel_key(channel), payload)


class Hub:
    """One subscription connection for a whole streaming process.

    `subscribe(channel, callback)`: the callback gets (channel, bytes) on the event loop, must not block and must not
    raise. The connection is made anew, with all channels, whenever Redis comes back; what was published meanwhile is lost,
    as it is for anybody who was not connected.
    """

    def __init__(self) -> None:
        self._callbacks: dict[str, set[Callback]] = {}
        self._changes: asyncio.Queue[tuple[bool, str]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen, on the running loop. Starting twice is no harm."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End the connection."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def subscribe(self, channel: str, callback: Callback) -> None:
        """Have the callback called for each message of the channel."""
        callbacks = self._callbacks.setdefault(channel, set())
        callbacks.add(callback)
        if len(callbacks) == 1:
            self._changes.put_nowait((True, channel))

    def unsubscribe(self, channel: str, callback: Callback) -> None:
        """The reverse; unknown pairs are ignored."""
        callbacks = self._callbacks.get(channel)
        if callbacks is None:
            return
        callbacks.discard(callback)
        if not callbacks:
            del self._callbacks[channel]
            self._changes.put_nowait((False, channel))

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except asyncio.CancelledError:
                raise
            except (redis.RedisError, OSError) as error:
                logger.warning("The stream hub lost Redis (%s): trying again", type(error).__name__)
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self) -> None:
        prefix = redis.key("streams", "")
        async with redis.async_client("streams").pubsub() as pubsub:
            # A channel nobody publishes on keeps the connection subscribed while there is no other.
            await pubsub.subscribe(f"{prefix}hub", *(f"{prefix}{channel}" for channel in self._callbacks))
            while not self._changes.empty():
                self._changes.get_nowait()
            follow = asyncio.create_task(self._follow(pubsub, prefix))
            try:
                while True:
                    message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=None)
                    if message is not None:
                        self._deliver(message["channel"].decode().removeprefix(prefix), message["data"])
                    if follow.done():
                        follow.result()
            finally:
                follow.cancel()

    async def _follow(self, pubsub: redis.redis.asyncio.client.PubSub, prefix: str) -> None:
        while True:
            wanted, channel = await self._changes.get()
            # Only the last wish counts: it may have changed since this one was queued.
            if wanted and channel in self._callbacks:
                await pubsub.subscribe(prefix + channel)
            elif not wanted and channel not in self._callbacks:
                await pubsub.unsubscribe(prefix + channel)

    def _deliver(self, channel: str, payload: bytes) -> None:
        for callback in tuple(self._callbacks.get(channel, ())):
            callback(channel, payload)
