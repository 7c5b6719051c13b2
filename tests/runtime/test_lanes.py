"""Tests of a worker's threads: jobs of local users have their own threads, however many jobs are waiting for other servers."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest

from social import tasks
from social.celery import app
from social.kernel import clock
from social.queues import LANES, QUEUES, WAKE_QUEUES, queues_of, threads_of
from social.runtime.lanes import LanePool, UnacknowledgedRequest


@pytest.fixture
def pool() -> Iterator[LanePool]:
    made = LanePool(20)
    made.start()
    yield made
    made.stop()


def submit(pool: LanePool, queue: str, work: Any) -> None:
    """Run `work` in the pool as a task whose message came from `queue`."""
    request = {"delivery_info": {"routing_key": queue}}
    pool.apply_async(lambda *_: work(), args=("task", "1", request, b"", "", ""), callback=lambda _: None)


@pytest.mark.parametrize("stuck", list(QUEUES))
def test_a_queue_whose_threads_are_all_busy_delays_no_other_queue(pool: LanePool, stuck: str) -> None:
    released = threading.Event()
    try:
        for _ in range(50):
            submit(pool, stuck, released.wait)
        for queue in QUEUES.keys() - {stuck}:
            done = threading.Event()
            submit(pool, queue, done.set)
            assert done.wait(10), f"{queue} waits behind {stuck}"
    finally:
        released.set()


def test_a_queue_uses_no_more_threads_than_declared(pool: LanePool) -> None:
    released, running = threading.Event(), threading.Semaphore(0)

    def work() -> None:
        running.release()
        released.wait()

    for _ in range(20):
        submit(pool, "fetches", work)
    try:
        for _ in range(QUEUES["fetches"].threads):
            assert running.acquire(timeout=60)
        assert not running.acquire(timeout=0.2)
    finally:
        released.set()


def test_a_queue_starts_the_next_call_while_another_waits_for_its_last_answers(pool: LanePool) -> None:
    """A call that may no longer claim rows is only waiting for slow servers; meanwhile the next call claims rows."""
    released, done = threading.Event(), threading.Event()
    submit(pool, "threads", released.wait)
    try:
        submit(pool, "threads", done.set)
        assert done.wait(10)
    finally:
        released.set()


def test_a_message_from_an_unknown_queue_is_processed(pool: LanePool) -> None:
    done = threading.Event()
    submit(pool, "of another release", done.set)
    assert done.wait(10)


@pytest.mark.parametrize("stuck", ["default", "feeds", "notifications"])
def test_a_wake_up_reaches_its_other_queues_when_all_threads_of_one_wait(
    pool: LanePool, stuck: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    drained = {queue: threading.Event() for queue in ("default", "feeds", "notifications")}
    monkeypatch.setattr(tasks, "drain_queue", lambda queue: drained[queue].set())
    try:
        for _ in range(50):
            submit(pool, stuck, released.wait)
        submit(pool, WAKE_QUEUES["local"], lambda: tasks.drain_outbox(*drained))
        for queue in drained.keys() - {stuck}:
            assert drained[queue].wait(10), f"{queue} waits behind {stuck}"
        assert not drained[stuck].is_set()
    finally:
        released.set()
    assert drained[stuck].wait(10)


@pytest.mark.parametrize("age", [60, -60])
def test_an_expired_message_is_dropped_without_a_log_line(age: int, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"id": "1", "task": "social.tasks.sweep", "expires": clock.iso(clock.now() - timedelta(seconds=age))}
    message = Mock(headers=headers, properties={}, delivery_info={}, errors=None)
    celery: Any = app
    with caplog.at_level("INFO", "celery"):
        request = UnacknowledgedRequest(message, app=celery, task=Mock(), body=([], {}, {}), decoded=True)
        assert request.revoked() is (age > 0)
    assert not caplog.records


def test_a_failed_drain_is_logged_and_its_thread_continues(
    pool: LanePool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    def drain(queue: str) -> None:
        if queue == "search":
            raise OSError("The database is away.")
        done.set()

    monkeypatch.setattr(tasks, "drain_queue", drain)
    tasks.drain_outbox("search")
    pool.run("search", done.set)
    assert done.wait(10)
    assert "Outbox queue search could not be drained" in caplog.text


def test_without_threads_of_their_own_queues_are_drained_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    drained: list[str] = []
    monkeypatch.setattr(tasks, "drain_queue", drained.append)
    assert threads_of.find() is None
    tasks.drain_outbox("feeds", "default")
    assert drained == ["feeds", "default"]


def test_every_queue_belongs_to_a_lane_and_every_lane_has_queues() -> None:
    assert {terms.lane for terms in QUEUES.values()} == set(LANES)
    assert {name for lane in LANES for name in queues_of([lane])} == set(QUEUES)


@pytest.mark.parametrize("lanes", ["network", "local, ingress", ""])
def test_a_worker_serves_the_lanes_it_was_given(lanes: str) -> None:
    program = """if True:
        from types import SimpleNamespace
        from social.runtime import serve
        def controller(*, queues, **options):
            return SimpleNamespace(start=lambda: print("queues:", *queues), exitcode=0)
        serve._celery = lambda: SimpleNamespace(Worker=controller)
        serve.worker()
    """
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"WORKER_LANES": lanes, "DJANGO_SETTINGS_MODULE": "social.settings.base"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    (served,) = [line for line in ran.stdout.split("\n") if line.startswith("queues:")]
    wanted = lanes.replace(",", " ").split() or LANES
    assert set(served.removeprefix("queues:").split()) == {*queues_of(wanted), *map(WAKE_QUEUES.get, wanted)}


def test_an_unknown_lane_is_refused_in_one_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import social.settings.env"],
        env=os.environ | {"WORKER_LANES": "local,fast"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode != 0
    assert "WORKER_LANES: fast is not one of local, ingress, network, media." in ran.stderr
