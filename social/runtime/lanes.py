"""The worker's classes for Celery: a pool with separate threads for each queue, and a request that is never acknowledged."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from celery.concurrency.base import BasePool, apply_target
from celery.concurrency.thread import ApplyResult  # type: ignore[attr-defined]  # it has no types
from celery.worker.request import Request

from social.queues import QUEUES, WAKE_QUEUES, threads_of
from social.schedule import CELERY

# The index of the request among the arguments of Celery's tracer.
_REQUEST: Final = 2


class LanePool(BasePool):
    """Celery pool with separate threads for each queue, so that slow tasks of one queue do not block other queues.

    `social.queues` declares the number of threads of each queue. Threads are started when they are first needed. A wake-up
    runs on a thread of its lane, where it only passes work on to the threads of its queues (`threads_of`).
    """

    body_can_be_buffer = True
    signal_safe = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._executors = {
            name: ThreadPoolExecutor(terms.threads, thread_name_prefix=f"queue-{name}")
            for name, terms in QUEUES.items()
        } | {name: ThreadPoolExecutor(1, thread_name_prefix=name) for name in WAKE_QUEUES.values()}

    def on_start(self) -> None:
        threads_of.plug(self.run)

    def run(self, queue: str, work: Callable[[], None]) -> None:
        """Call `work`, which must not raise, on a thread of `queue`."""
        self._executor(queue).submit(work)

    def _executor(self, queue: str) -> ThreadPoolExecutor:
        return self._executors.get(queue) or self._executors[str(CELERY["task_default_queue"])]

    def on_apply(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        callback: Callable[..., Any] | None = None,
        accept_callback: Callable[..., Any] | None = None,
        **_: Any,
    ) -> ApplyResult:
        """Run a task on a thread of the queue from which its message came."""
        executor = self._executor(args[_REQUEST]["delivery_info"]["routing_key"])
        return ApplyResult(executor.submit(apply_target, target, args, kwargs, callback, accept_callback))

    def on_stop(self) -> None:
        """Let running tasks finish; the next sweep, by another process, finds the work of tasks that have not begun."""
        threads_of.unplug()
        for executor in self._executors.values():
            executor.shutdown(wait=False, cancel_futures=True)
        for executor in self._executors.values():
            executor.shutdown()


class UnacknowledgedRequest(Request):
    """Message of a task in a worker, which is never acknowledged: the queues need no acknowledgements, and sending them
    takes a third of the time of a short task.
    """

    def acknowledge(self) -> None:
        self.acknowledged = True

    def revoked(self) -> bool:
        """Tell whether the message has expired: a scheduled task's message expires if the worker takes longer to start than the
        task's interval.

        It is dropped without a line in the log, because the next message does its work.
        """
        return bool(self.maybe_expire())
