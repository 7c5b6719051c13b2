"""The threads that run the application: each takes whole requests from a bounded queue, one at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol


class Work(Protocol):
    """Something a thread does; `run` must not raise."""

    def run(self) -> None:
        """Do it."""
        ...


class Lane:
    """`threads` threads with one queue. All methods are called from the event loop's thread."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self.name = name
        self.most_waiting = most_waiting
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._busy = 0
        self._lock = threading.Lock()
        self._progress = time.monotonic()
        self._threads = [
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True) for number in range(threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> bool:
        """Have a thread do it; False when too many wait already."""
        waiting = self._queue.qsize()
        if waiting >= self.most_waiting:
            return False
        if not waiting:
            self._progress = time.monotonic()
        self._queue.put(work)
        return True

    def stuck_for(self) -> float:
        """For how many seconds requests have been waiting without any thread having taken one."""
        return time.monotonic() - self._progress if self._queue.qsize() else 0.0

    def stop(self) -> None:
        """Have each thread end after what it does now."""
        for _thread in self._threads:
            self._queue.put(None)

    def join(self, deadline: float) -> bool:
        """Wait until `deadline` (monotonic) for the threads to end; whether all did."""
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _serve(self) -> None:
        take: Callable[[], Work | None] = self._queue.get
        while (work := take()) is not None:
            self._progress = time.monotonic()
            work.run()
