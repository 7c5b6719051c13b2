"""A bounded pool of threads for calls from an event loop; each result comes back by one callback."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from social.runtime.web.environment import BUSY, Refused

P = ParamSpec("P")
T = TypeVar("T")
#: What is called in the event loop with the result of a call, or with the exception that it raised.
Callback = Callable[[Any, Exception | None], None]
Call = tuple[Callable[[], Any], Callback]


class ThreadPool:
    """`threads` threads, and at most `waiting` calls that wait for one. Its methods are for the event loop alone.

    The thread that was free last works next: few threads have warm caches and connections. (An executor of the standard
    library has two futures and a condition for each call, which cost as much as all the rest of a small request here.)
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._name = name
        self._free = [SimpleQueue[Call]() for _number in range(threads)]
        self._waiting: deque[Call] = deque()
        self._waiting_limit = waiting
        self._progress = 0.0

    def start(self) -> None:
        """Start the threads. They end with the process."""
        loop = asyncio.get_running_loop()
        for number, calls in enumerate(self._free):
            threading.Thread(target=self._work, args=(loop, calls), name=f"{self._name}-{number}", daemon=True).start()

    def submit(self, work: Callable[[], Any], callback: Callback) -> None:
        """Call `work` in a thread, and `callback` when it is done. Raises Refused when too many wait already."""
        if self._free:
            self._progress = time.monotonic()
            self._free.pop().put((work, callback))
        elif len(self._waiting) < self._waiting_limit:
            self._waiting.append((work, callback))
        else:
            raise Refused(503, BUSY, 1)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the call returns, or raise what it raises. Raises Refused when too many wait already."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit(partial(work, *args, **kwargs), partial(_resolve, future))
        return await future

    def stuck_for(self) -> float:
        """Seconds for which calls have been waiting without any thread having finished one."""
        return time.monotonic() - self._progress if self._waiting else 0.0

    def _work(self, loop: asyncio.AbstractEventLoop, calls: SimpleQueue[Call]) -> None:
        while True:
            work, callback = calls.get()
            result, error = None, None
            try:
                result = work()
            except Exception as raised:
                error = raised
            loop.call_soon_threadsafe(self._finish, calls, callback, result, error)
            del work, callback, result, error

    def _finish(self, calls: SimpleQueue[Call], callback: Callback, result: Any, error: Exception | None) -> None:
        self._progress = time.monotonic()
        if self._waiting:
            calls.put(self._waiting.popleft())
        else:
            self._free.append(calls)
        callback(result, error)


def _resolve(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():  # nobody waits for it when the process ends
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
