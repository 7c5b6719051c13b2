"""The event loop of all connections of this process, in a separate thread.

Connections belong to an event loop, and the threads of a web server or a Celery worker have none. With one loop in each
process, all threads share one pool of connections. A forked child starts its own loop and leaves the parent's alone.
"""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class NetworkThread:
    """A daemon thread that runs an event loop until the process ends."""

    def __init__(self) -> None:
        self.loop = _new_loop()
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._thread = threading.Thread(target=self._run, name="network", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def at_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Register a function whose result is awaited before the loop stops."""
        self._closers.append(closer)

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine on the loop and wait for it in this thread, at most `timeout` seconds.

        The coroutine sees this thread's context variables, and is cancelled when the wait ends early (time-out, signal).
        Raises TimeoutError, the errors of the coroutine, and RuntimeError on the loop's own thread, which would wait for
        itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("The network loop cannot wait for itself: use fetch_async() here.")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    async def await_here(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the network loop and await it on the caller's loop, which may be the same loop."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def close(self) -> None:
        """Close the connections of the loop and stop it; wait 2 s at most, because the process is about to end."""

        async def close_all() -> None:
            unfinished = asyncio.all_tasks() - {asyncio.current_task()}
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)
            for closer in self._closers:
                await closer()

        with contextlib.suppress(Exception):
            self.call(close_all(), timeout=1.0)
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(1.0)
        if not self._thread.is_alive():
            self.loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


_lock = threading.Lock()
_current: NetworkThread | None = None
# In a forked child, this keeps the parent's loop from being garbage-collected. Parent and child share the loop's epoll set, so
# closing the loop's transports would remove the parent's sockets from the set.
_inherited: list[NetworkThread] = []


def current() -> NetworkThread:
    """Return the network thread of this process, started at the first call."""
    global _current
    if _current is None:
        with _lock:
            if _current is None:
                _current = NetworkThread()
    return _current


def _after_fork_in_child() -> None:
    global _current, _lock
    _lock = threading.Lock()
    if _current is not None:
        _inherited.append(_current)
        _current = None


def _at_exit() -> None:
    if _current is not None:
        _current.close()


os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(_at_exit)
