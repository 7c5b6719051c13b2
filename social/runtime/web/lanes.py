"""The threads that run the application: each takes whole requests from a bounded queue, one at a time."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Protocol


class Work(Protocol):
    """Something a thread does; `run` must not raise."""

    def run(self) -> None:
        """Do it."""
        ...


class _Thread:
    """One thread, and what it waits for: a lock of its own, so that waking it wakes nobody else."""

    __slots__ = ("wake", "work")

    def __init__(self) -> None:
        self.wake = threading.Lock()
        self.wake.acquire()
        self.work: Work | None = None


class Lane:
    """`threads` threads with one queue. All methods are called from the event loop's thread.

    The thread that became free last is woken first: the processor's caches still hold what it needs. (`queue.SimpleQueue`
    wakes a second thread for each item that a waiting one takes, which finds nothing.)
    """

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self.name = name
        self.most_waiting = most_waiting
        self._queue: deque[Work | None] = deque()
        self._idle: list[_Thread] = []
        self._lock = threading.Lock()
        """For `_queue` and `_idle`: one of them is always empty."""
        self._progress = time.monotonic()
        self._threads = [
            threading.Thread(target=self._serve, args=(_Thread(),), name=f"{name}-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> bool:
        """Have a thread do it; False when too many wait already."""
        if len(self._queue) >= self.most_waiting:
            return False
        self._put(work)
        return True

    def stuck_for(self) -> float:
        """For how many seconds requests have been waiting without any thread having taken one."""
        return time.monotonic() - self._progress if self._queue else 0.0

    def stop(self) -> None:
        """Have each thread end after what it does now."""
        for _thread in self._threads:
            self._put(None)

    def join(self, deadline: float) -> bool:
        """Wait until `deadline` (monotonic) for the threads to end; whether all did."""
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _put(self, work: Work | None) -> None:
        with self._lock:
            if not self._idle:
                if not self._queue:
                    self._progress = time.monotonic()
                self._queue.append(work)
                return
            thread = self._idle.pop()
        thread.work = work
        thread.wake.release()

    def _serve(self, own: _Thread) -> None:
        while (work := self._take(own)) is not None:
            work.run()

    def _take(self, own: _Thread) -> Work | None:
        with self._lock:
            if self._queue:
                self._progress = time.monotonic()
                return self._queue.popleft()
            self._idle.append(own)
        own.wake.acquire()
        work, own.work = own.work, None
        return work
