"""Viewers of public streams in this process: their cached blocks, mutes and filters, applied outside of the event loop."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from timelines.consumers.threads import in_thread
from timelines.policies.streams import Viewer
from timelines.queries.fan_out import load_viewer
from timelines.serializers.entities import with_filters
from timelines.stores.messages import Message

RENEWAL_SECONDS: Final = 300.0
"""Time after which a viewer is loaded again, in case the message of a change was lost."""

_SMALLEST_BATCH: Final = 10
_BATCH_DIVISOR: Final = 30


@dataclass(slots=True, eq=False)
class Watched:
    """Cached facts about one viewer, shared by all of the viewer's connections."""

    account_id: int
    users: int = 0
    _viewer: Viewer | None = None
    _read_at: float = 0.0
    _generation: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def forget(self, _message: Message) -> None:
        """Discard the cached viewer after a change of its relations; it is loaded again before the next event."""
        self._viewer = None
        self._generation += 1

    @property
    def age(self) -> float:
        """Seconds since the viewer was loaded; 0 if it is not cached, because it is then loaded before the next event."""
        return 0.0 if self._viewer is None else time.monotonic() - self._read_at

    @property
    def cached(self) -> Viewer | None:
        """Cached viewer; None when it must be loaded first."""
        return self._viewer

    async def get(self) -> Viewer:
        """Return the viewer. Reads the database only the first time and after `forget`."""
        viewer = self._viewer
        if viewer is not None:
            return viewer
        async with self._lock:
            while self._viewer is None:
                await self.renew()
            return self._viewer

    async def renew(self) -> None:
        """Load the viewer again; the result may be outdated and is discarded if the relations changed meanwhile."""
        generation = self._generation
        viewer = await in_thread(load_viewer, self.account_id)
        if generation == self._generation:
            self._viewer, self._read_at = viewer, time.monotonic()


class Viewers:
    """Viewers of this process by account id, kept as long as a connection needs them."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}

    def take(self, account_id: int) -> Watched:
        """Return the cached facts about a viewer; release them with `leave`."""
        watched = self._watched.setdefault(account_id, Watched(account_id))
        watched.users += 1
        return watched

    def leave(self, watched: Watched) -> None:
        """Release a viewer that a connection no longer needs."""
        watched.users -= 1
        if watched.users <= 0 and self._watched.get(watched.account_id) is watched:
            del self._watched[watched.account_id]

    async def renew(self) -> None:
        """Reload the viewers that were loaded long ago, a few at a time, so that no event has to wait until many are loaded."""
        due = sorted((w for w in self._watched.values() if w.age >= RENEWAL_SECONDS), key=lambda w: w.age, reverse=True)
        for watched in due[: max(_SMALLEST_BATCH, len(self._watched) // _BATCH_DIVISOR)]:
            await watched.renew()


_FilterRequest = tuple[Message, Viewer, datetime, asyncio.Future[Message]]


class FilteredEvents:
    """Applies viewers' filters to events: once for each viewer and event, however many connections the viewer has."""

    def __init__(self) -> None:
        self._requests: list[_FilterRequest] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, message: Message, viewer: Viewer, moment: datetime) -> Message:
        """Return the event with the viewer's filters applied, as of `moment`."""
        filtered_for, result = message.filtered.get(viewer.account_id, (None, None))
        if filtered_for is not viewer or result is None:
            result = asyncio.get_running_loop().create_future()
            message.filtered[viewer.account_id] = viewer, result
            self._requests.append((message, viewer, moment, result))
            if len(self._requests) == 1:
                # All listeners of the event add their requests before this task starts, so that one thread handles them
                # together.
                task = asyncio.create_task(self._make())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        # Shielded, because other connections may wait for the result when this one ends.
        return await asyncio.shield(result)

    async def _make(self) -> None:
        requests, self._requests = self._requests, []
        try:
            messages = await in_thread(_filter_all, requests)
        except Exception as error:
            for *_others, result in requests:
                result.set_exception(error)
            return
        for (*_others, result), message in zip(requests, messages, strict=True):
            result.set_result(message)


def _filter_all(requests: list[_FilterRequest]) -> list[Message]:
    return [with_filters(message, viewer.filters, moment) for message, viewer, moment, _result in requests]
