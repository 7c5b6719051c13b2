"""Does the queued work for other servers in runs of a few seconds.

A run works for many hosts at the same time, on few rows for each.

Source: DESIGN "One runner", "Lanes", "Claims are leases" and "Deliveries are fair".
"""

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar

from django.db import InterfaceError, OperationalError, transaction
from django.db.models.functions import Now

from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.claims import Claims, Failure, idle, new_token
from social.kernel.events import Event, on, publish
from social.kernel.http.client import run
from social.kernel.http.limits import context_for_asker, using_queue
from social.kernel.outbox import OutboxRow
from social.kernel.runner.rows import WaitingRow, claiming_statement, forget_troubles, record_answers
from social.kernel.terms import TERMS, Terms

logger = logging.getLogger("social.runner")

#: Seconds after which the next call of the runner begins while any row is waiting.
NEXT_RUN: Final = 5.0
# Seconds for which further results are gathered after the first result, and seconds without a result after which more rows are
# claimed.
_GATHERING_WINDOW: Final = 0.01
_POLL_SECONDS: Final = 0.5
_TOO_LATE: Final = "its time was over"

R = TypeVar("R", bound=WaitingRow)
Steps = Generator[Awaitable[Any], Any, None]


class Failed(Exception):
    """Failure of an attempt; with `final`, a retry would fail too."""

    def __init__(self, reason: str, *, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


@dataclass(eq=False, slots=True)
class Job(Generic[R]):
    """Row that this process has claimed. `answers` maps each host to its error, or to "" for a success."""

    row: R
    expires: float
    answers: dict[str, str] = field(default_factory=dict)
    steps: Steps | None = None
    ends: float = 0.0


class Work(Generic[R]):
    """Kind of work. `model` is the model of its rows; `begin` gets the jobs of one claim and returns the steps of each job.

    Steps are a generator that runs in the worker's own thread, where the database connection is. What the generator yields is
    awaited on the network loop, and the result or exception is sent back to the generator. The generator records in
    `Job.answers` how hosts answered, and ends when the work is done. The generator must be idempotent, because a process may
    end before the result is stored. The generator raises Failed when the attempt has failed; any other exception also counts as
    a failure, and is logged. `finished` is called with rows that are done, or were given up a while ago, in the transaction
    that deletes them.
    """

    def __init__(
        self,
        model: type[R],
        begin: Callable[[Sequence[Job[R]]], Iterable[Steps]],
        finished: Callable[[Sequence[R]], None] = lambda rows: None,
    ) -> None:
        self.model = model
        self.begin = begin
        self.finished = finished
        self.claims: Final = Claims(model._meta.db_table)
        # The runs of this process that still claim rows; other runs only finish the jobs that they have started.
        self.claiming: Final[set[Run[R]]] = set()
        self._leaving: Final = threading.Lock()

    @property
    def terms(self) -> Terms:
        return TERMS[self.model.queue]

    def run(self) -> None:
        """Do due work for a few seconds.

        If rows are still waiting at the end, the next run is scheduled. Any number of processes may run at the same time.
        Raises database errors: the leases then expire by themselves.
        """
        Run(self).run()

    def subscribe(self) -> None:
        """Subscribe the workers of this work's queue to its event, and include its rows in `forget_given_up`."""
        on(self.model.due, self.react, queue=self.model.queue, seconds=self.terms.seconds)
        _subscribed[self.model.queue] = self

    def react(self, events: Sequence[Event]) -> None:
        """Call `run` once, however many events there are."""
        self.run()

    def stop_claiming(self, run: "Run[R]", *, at_any_rate: bool) -> None:
        """Stop a run from claiming rows.

        Unless `at_any_rate` is set, the run is stopped only if another run of this process still claims rows.
        """
        with self._leaving:
            if at_any_rate or len(self.claiming) > 1:
                self.claiming.discard(run)

    def schedule_next_run(self, *, now: bool) -> None:
        """Publish the event again if any row is waiting or claimed: due in NEXT_RUN seconds or, with `now`, immediately.
        Otherwise no run would find the rows of a killed process.
        """
        if not self.model.objects.filter(dead_at=None).exists():
            return
        event, moment = self.model.due, clock.now() + timedelta(seconds=NEXT_RUN)
        # A claimed row of the outbox does not count, because its run is about to end, or was killed and would be repeated too
        # late.
        later = OutboxRow.objects.filter(idle(), queue=self.model.queue, event=event.__name__, dead_at=None)
        with transaction.atomic():
            if now:
                publish(event())
            elif not later.filter(due_at__gt=clock.now(), due_at__lte=moment).exists():
                publish(event(), due_at=moment)

    def forget_given_up(self) -> int:
        """Give up rows whose lifetime is over, and delete the rows that were given up longer ago than `terms.kept`, so that
        their tasks may be added again; return how many rows were deleted.
        """
        rows, now = self.model.objects.all(), clock.now()
        if self.terms.lifetime is not None:
            late = rows.filter(idle(), dead_at=None, created_at__lt=now - self.terms.lifetime)
            late.update(dead_at=Now(), last_error=_TOO_LATE)
        removed = 0
        while True:
            with transaction.atomic():
                old = rows.filter(dead_at__lt=now - self.terms.kept).select_for_update(skip_locked=True)
                batch = list(old.order_by("id")[:BATCH])
                rows.filter(id__one_of=[row.pk for row in batch]).delete()
                self.finished(batch)
            removed += len(batch)
            if len(batch) < BATCH:
                forget_troubles(self.model.queue)
                return removed


_subscribed: Final[dict[str, Work[Any]]] = {}


def forget_given_up() -> int:
    """Give up and delete old rows of every kind of work (`Work.forget_given_up`); return how many were deleted."""
    return sum(work.forget_given_up() for work in _subscribed.values())


class Run(Generic[R]):
    """Call of the runner, with its claimed jobs, the jobs under way on the network loop, and the jobs that have ended."""

    def __init__(self, work: Work[R]) -> None:
        self.work = work
        self.terms = work.terms
        # A run claims for a shorter time than the lease, so that no row is claimed twice with one token.
        assert self.terms.slice_seconds + self.terms.row_seconds < self.terms.lease
        self._token = new_token()
        self._claimed: dict[str, deque[Job[R]]] = {}
        self._under_way: Counter[str] = Counter()
        self._awaited: list[tuple[Job[R], Awaitable[Any]]] = []
        self._tasks: dict[asyncio.Task[Any], Job[R]] = {}
        self._ended: list[tuple[Job[R], Failed | None]] = []
        self._released: list[int] = []
        self._paced_until = 0.0

    def run(self) -> None:
        end = time.monotonic() + self.terms.slice_seconds
        last_end = end + self.terms.row_seconds
        claiming, is_announced = self.work.claiming, False
        claiming.add(self)
        try:
            while True:
                jobs = self.claim() if self in claiming else []
                self._begin_claimed()
                self.settle()
                if self in claiming and (now := time.monotonic()) >= end:
                    # Further rows are for the next run, which need not wait for the slowest jobs of this run. This run still
                    # claims rows until the next run has a thread, because all threads may be waiting for slow hosts.
                    if not is_announced:
                        is_announced = True
                        self.work.schedule_next_run(now=True)
                    self.work.stop_claiming(self, at_any_rate=now >= last_end)
                if self._awaited or self._tasks:
                    with using_queue(self.work.model.queue):
                        came = run(self._wait(0.0 if jobs else _POLL_SECONDS))
                    for job, task in came:
                        self._under_way[job.row.host] -= 1
                        self._step(job, task)
                    self.settle()
                elif not jobs:
                    pause = self._paced_until - time.monotonic()
                    if pause <= 0 or self.terms.pace > self.terms.slice_seconds:
                        break
                    time.sleep(pause)
        finally:
            is_open = self in claiming
            claiming.discard(self)
            for _job, awaited in self._awaited:
                if asyncio.iscoroutine(awaited):
                    awaited.close()
        if is_open:
            self.work.schedule_next_run(now=False)

    def claim(self) -> list[Job[R]]:
        """Claim due rows, within the limits of the terms; the claim is committed."""
        terms, model = self.terms, self.work.model
        room = terms.at_once - self._under_way.total()
        if room <= 0:
            return []
        taken = self._under_way + Counter({host: len(jobs) for host, jobs in self._claimed.items()})
        busy = [host for host, number in taken.items() if number >= terms.per_host]
        expires = time.monotonic() + terms.lease
        values = {
            "queue": model.queue,
            "unknown": int(terms.cautious),
            "busy": busy,
            "hosts": room,
            "per_host": 1 if terms.pace else terms.claimed or terms.per_host,
            "pace": str(terms.pace),
            "lease": str(terms.lease),
        }
        found = self.work.claims.take(claiming_statement(model), self._token, values)
        names = [column.attname for column in model._meta.concrete_fields]
        rows = sorted((model.from_db("default", names, columns) for columns in found), key=lambda row: int(row.pk))
        jobs = [Job(row, expires) for row in rows]
        if jobs:
            self._paced_until = time.monotonic() + terms.pace
        for job, steps in zip(jobs, self.work.begin(jobs), strict=True):
            job.steps = steps
            self._claimed.setdefault(job.row.host, deque()).append(job)
        return jobs

    def _begin_claimed(self) -> None:
        """Start the jobs that the terms allow; release jobs that would outlast their lease."""
        for host, jobs in list(self._claimed.items()):
            while jobs and self._under_way[host] < self.terms.per_host and self._under_way.total() < self.terms.at_once:
                job = jobs.popleft()
                job.ends = time.monotonic() + self.terms.row_seconds
                if job.row.attempts >= self.terms.attempts:
                    self.end(job, Failed("the process ended each time", final=True))
                elif self.terms.lifetime is not None and clock.now() - job.row.created_at > self.terms.lifetime:
                    self.end(job, Failed(_TOO_LATE, final=True))
                elif job.ends > job.expires:
                    self._released.append(job.row.pk)
                else:
                    self._step(job)
            if not jobs:
                del self._claimed[host]

    def _step(self, job: Job[R], task: asyncio.Task[Any] | None = None) -> None:
        """Run the steps of a job until their next wait, or to their end."""
        assert job.steps is not None
        try:
            if task is None:
                awaited = next(job.steps)
            elif (error := task.exception()) is not None:
                awaited = job.steps.throw(error)
            else:
                awaited = job.steps.send(task.result())
        except StopIteration:
            self.end(job, None)
        except Failed as failed:
            self.end(job, failed)
        except (OperationalError, InterfaceError):
            raise
        except TimeoutError:
            reason = f"it took longer than {self.terms.row_seconds:g} s"
            if not any(job.answers.values()):
                job.answers[job.row.host] = reason
            self.end(job, Failed(reason))
        except Exception as error:
            logger.exception("%s: %s failed", self.work.model.queue, job.row)
            self.end(job, Failed(f"{type(error).__name__}: {error}"))
        else:
            self._under_way[job.row.host] += 1
            self._awaited.append((job, awaited))

    async def _wait(self, seconds: float) -> list[tuple[Job[R], asyncio.Task[Any]]]:
        """Return the tasks that have ended on the network loop, after waiting for the first one and then a moment for more."""
        for job, awaited in self._awaited:
            work = _await_within(awaited, job.ends - time.monotonic())
            task = asyncio.create_task(work, context=context_for_asker(job.row.asker))
            self._tasks[task] = job
        self._awaited.clear()
        done, _pending = await asyncio.wait(self._tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if done:
            await asyncio.sleep(_GATHERING_WINDOW)
        return [(self._tasks.pop(task), task) for task in list(self._tasks) if task.done()]

    def end(self, job: Job[R], failed: Failed | None) -> None:
        """Record that a job is done or has failed; the next `settle` stores it."""
        self._ended.append((job, failed))

    def settle(self) -> None:
        """Store the results of the jobs that have ended. Results and answers of jobs whose lease has expired are dropped."""
        ended, self._ended = self._ended, []
        for host in {host for job, _failed in ended for host, wrong in job.answers.items() if wrong}:
            self._released += [job.row.pk for job in self._claimed.pop(host, ())]
        released, self._released = self._released, []
        if not ended and not released:
            return
        claims, token = self.work.claims, self._token
        with transaction.atomic():
            mine = claims.hold(token, [job.row.pk for job, _failed in ended])
            ended = [(job, failed) for job, failed in ended if job.row.pk in mine]
            done = [job.row for job, failed in ended if failed is None]
            claims.finish_quickly(token, [row.pk for row in done])
            self.work.finished(done)
            claims.fail(token, [self._failure(job.row, failed) for job, failed in ended if failed is not None])
            claims.release(token, released)
            answers = {host: wrong for job, _failed in ended for host, wrong in job.answers.items()}
            record_answers(self.work.model.queue, answers, {row.host for row in done})

    def _failure(self, row: R, failed: Failed) -> Failure:
        attempts = row.attempts + 1
        is_last = failed.final or attempts >= self.terms.attempts
        return Failure(row.pk, attempts, self.terms.retry_after(attempts), str(failed), dead=is_last)


async def _await_within(awaited: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(max(seconds, 0.1)):
        return await awaited
