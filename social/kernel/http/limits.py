"""Limits on how long web requests may wait for other machines, and on how many may wait at the same time.

Source: DESIGN "One way out". A web request may use the network for 5 s altogether. At most half of the threads may be waiting
for the network, and a quarter for hosts that unknown callers have named. Work outside web requests is bounded by its own
deadlines.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context

from django.conf import settings

from social.kernel.http.errors import Busy, Exhausted

_lock = threading.Condition(threading.Lock())
_waiting = 0
# Hosts from which a web request from an unknown caller is fetching now.
_asked_by_strangers: set[str] = set()
# Hosts from which another web request from an unknown caller is waiting to fetch; at most one request waits for each host.
_wanted_by_strangers: set[str] = set()


def _after_fork_in_child() -> None:
    # The threads that held or awaited the lock do not exist in the child, so nothing would ever release it.
    global _lock, _waiting
    _lock = threading.Condition(threading.Lock())
    _waiting = 0
    _asked_by_strangers.clear()
    _wanted_by_strangers.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _thread_share(part: int) -> int:
    return max(1, int(getattr(settings, "WEB_THREADS", 8)) // part)


class _Budget:
    """The network time of one web request; a second in which several fetches are under way counts once."""

    __slots__ = ("_left", "_pending", "_since")

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._pending = 0
        self._since = 0.0

    def enter(self) -> float:
        """Start spending the budget; return the seconds left. Raises Exhausted if no time is left, Busy if too many requests
        are waiting.
        """
        global _waiting
        with _lock:
            now = time.monotonic()
            left = self._left - (now - self._since if self._pending else 0.0)
            if left <= 0:
                raise Exhausted("the network time of this web request is spent")
            if not self._pending:
                if _waiting >= _thread_share(2):
                    raise Busy("too many web requests are waiting for the network")
                _waiting += 1
                self._since = now
            self._pending += 1
            return left

    def set_aside(self, seconds: float) -> float:
        """Reduce the budget to `seconds` at most; return the seconds taken away, for `give_back`."""
        with _lock:
            taken = max(0.0, self._left - seconds)
            self._left -= taken
            return taken

    def give_back(self, seconds: float) -> None:
        with _lock:
            self._left += seconds

    def leave(self) -> None:
        global _waiting
        with _lock:
            self._pending -= 1
            if not self._pending:
                self._left -= time.monotonic() - self._since
                _waiting = max(0, _waiting - 1)


_budget: ContextVar[_Budget | None] = ContextVar("web_request_budget", default=None)


@contextmanager
def web_request_budget(seconds: float = 5.0) -> Iterator[None]:
    """Limit the fetches in the block, by this thread and the tasks it starts, to `seconds` altogether.

    Fetches then raise Exhausted immediately when the time is spent or when half of WEB_THREADS are waiting already, and do not
    retry hosts that were unreachable a moment ago. Inside another budget, the outer budget stays in force.
    """
    if _budget.get() is not None:
        yield
        return
    token = _budget.set(_Budget(seconds))
    try:
        yield
    finally:
        _budget.reset(token)


@contextmanager
def stranger_budget(host: str, seconds: float) -> Iterator[bool]:
    """Limit the fetches that a web request makes for an unknown caller, the first of them from `host`, to `seconds` in total;
    yield whether the request had to wait for another such request.

    In a process, at most a quarter of WEB_THREADS fetch for unknown callers at the same time, and only one for each host.
    Another request for the same host waits for the first, and the waiting counts towards `seconds`; at most a quarter of
    WEB_THREADS wait like this. Further requests raise Busy before anything is fetched. Outside web requests nothing is limited.
    """
    budget = _budget.get()
    if budget is None:
        yield False
        return
    began = time.monotonic()
    with _lock:
        has_waited = _wait_for_turn(host, began + seconds)
        _asked_by_strangers.add(host)
    waited = time.monotonic() - began
    taken = budget.set_aside(seconds - waited)
    try:
        yield has_waited
    finally:
        budget.give_back(max(0.0, taken - waited))
        with _lock:
            _asked_by_strangers.discard(host)
            _lock.notify_all()


def _wait_for_turn(host: str, end: float) -> bool:
    """Wait, under the lock, until a request may be sent to `host`; return whether the request had to wait. Raises Busy."""
    if not _is_asked(host):
        return False
    if host not in _asked_by_strangers or host in _wanted_by_strangers or len(_wanted_by_strangers) >= _thread_share(4):
        raise Busy("too many web requests are waiting for what strangers name")
    _wanted_by_strangers.add(host)
    try:
        if not _lock.wait_for(lambda: not _is_asked(host), end - time.monotonic()):
            raise Busy("another web request has asked the same server for too long")
    finally:
        _wanted_by_strangers.discard(host)
    return True


def _is_asked(host: str) -> bool:
    return host in _asked_by_strangers or len(_asked_by_strangers) >= _thread_share(4)


_queue: ContextVar[str] = ContextVar("asking_queue", default="")
_asker: ContextVar[str] = ContextVar("asker", default="")


@contextmanager
def using_queue(queue: str) -> Iterator[None]:
    """Let fetches in the block, and in the tasks that it starts, use the connections and look-ups of a queue (`Terms.lookups`).

    Fetches for imports and unknown callers then take none of the connections and look-ups that are reserved for deliveries
    (security row 72).
    """
    token = _queue.set(queue)
    try:
        yield
    finally:
        _queue.reset(token)


def queue_in_use() -> str:
    """Return the queue that a block of `using_queue` has set; empty outside of such a block."""
    return _queue.get()


def context_for_asker(wanted_by: str) -> Context:
    """Return a context for fetches on behalf of a local account or server (`wanted_by`), whose look-ups are limited separately
    (security row 72).
    """
    context = copy_context()
    context.run(_asker.set, wanted_by)
    return context


def asker() -> str:
    """Return the local account or server on whose behalf the current fetch is made; empty if there is none."""
    return _asker.get()


def in_web_request() -> bool:
    """Tell whether a web request is waiting for the current fetch."""
    return _budget.get() is not None


@contextmanager
def spending(seconds: float) -> Iterator[float]:
    """Spend the current budget in the block; yield `seconds`, or what the budget has left if less. Raises Exhausted."""
    budget = _budget.get()
    if budget is None:
        yield seconds
        return
    left = budget.enter()
    try:
        yield min(seconds, left)
    finally:
        budget.leave()


class HostPauses:
    """Hosts that could not be reached in the last `seconds`, in the memory of this process; not thread-safe."""

    def __init__(self, seconds: float = 30.0, size: int = 1024) -> None:
        self._seconds = seconds
        self._size = size
        self._until: OrderedDict[tuple[str, int], float] = OrderedDict()

    def note(self, host: str, port: int) -> None:
        """Record a failure; if there are more than `size` hosts, forget the oldest."""
        self._until[host, port] = time.monotonic() + self._seconds
        self._until.move_to_end((host, port))
        if len(self._until) > self._size:
            self._until.popitem(last=False)

    def forget(self, host: str, port: int) -> None:
        if self._until:
            self._until.pop((host, port), None)

    def holds(self, host: str, port: int) -> bool:
        """Tell whether the host failed less than `seconds` ago."""
        until = self._until.get((host, port))
        if until is None:
            return False
        if until > time.monotonic():
            return True
        del self._until[host, port]
        return False
