"""Whom the viewers of public streams in this process block and mute: read once, until it changes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

from timelines.consumers.threads import in_thread
from timelines.policies.streams import Viewer
from timelines.queries.streaming import load_viewer
from timelines.stores.messages import Message

_SECONDS: Final = 300.0
"""After this long a viewer is read again, in case the message of a change was lost."""


@dataclass(slots=True, eq=False)
class Watched:
    """What is known of one viewer; shared by all of the viewer's connections."""

    account_id: int
    users: int = 0
    _viewer: Viewer | None = None
    _read_at: float = 0.0
    _generation: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def forget(self, _message: Message) -> None:
        """Read the viewer anew before the next event: its relations have changed."""
        self._viewer = None
        self._generation += 1

    async def get(self) -> Viewer:
        """The viewer as of now. Reads the database only after `forget` or five minutes."""
        viewer = self._viewer
        if viewer is not None and time.monotonic() - self._read_at < _SECONDS:
            return viewer
        async with self._lock:
            while self._viewer is None or time.monotonic() - self._read_at >= _SECONDS:
                generation = self._generation
                viewer = await in_thread(load_viewer, self.account_id)
                # What was read while the relations changed may be the old state.
                if generation == self._generation:
                    self._viewer, self._read_at = viewer, time.monotonic()
            return self._viewer


class Viewers:
    """The viewers of a process, by account, as long as some connection needs them."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}

    def take(self, account_id: int) -> Watched:
        """What is known of a viewer; give it back with `leave`."""
        watched = self._watched.setdefault(account_id, Watched(account_id))
        watched.users += 1
        return watched

    def leave(self, watched: Watched) -> None:
        """One connection less needs it."""
        watched.users -= 1
        if watched.users <= 0 and self._watched.get(watched.account_id) is watched:
            del self._watched[watched.account_id]
