"""Tests of the real worker and scheduler: events are processed quickly, even after FLUSHALL and kills, with a single leader."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from social import broker
from social.celery import app
from social.kernel import heartbeats, redis, wakes
from social.kernel.events import publish
from social.schedule import celery_url
from tests.kernel import reactions, worker
from tests.kernel.reactions import Happened, Listen
from tests.kernel.valkey import Valkey, close_circuits
from tests.runtime.processes import eventually

pytestmark = pytest.mark.verify
#: In seconds; several times as long as a leader's lease. Waiting for a dead leader's lease to expire is the longest wait here.
PATIENCE = 180.0


@pytest.fixture
def server(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, effects: None) -> Iterator[Valkey]:
    """A Redis server for all roles."""
    with Valkey(tmp_path) as server:
        settings.REDIS_URLS = dict.fromkeys(settings.REDIS_URLS, server.url)
        monkeypatch.setattr(app.conf, "broker_url", celery_url(server.url))
        monkeypatch.setattr(broker, "_connections", {})
        close_circuits()
        with wakes.waker.replaced(broker.send_drain):
            yield server
    close_circuits()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM social_lease")


@pytest.fixture(params=[("threads", "2"), ("prefork", "2")], ids=["threads", "prefork"])
def working(request: pytest.FixtureRequest, server: Valkey) -> Iterator[Path]:
    """The log of a running worker."""
    pool, concurrency = request.param
    process, log = worker.start(
        server.url, "worker", "-P", pool, "-c", concurrency, "--without-gossip", "--without-mingle", "-l", "info"
    )
    try:
        worker.wait_for(log, "ready.")
        yield log
    finally:
        process.kill() if pool == "threads" else process.terminate()
        process.wait(20)
        log.unlink()


def commit(number: int) -> None:
    with transaction.atomic():
        publish(Happened(number, number))


def wait_for_effects(numbers: list[int]) -> None:
    """Wait until every number has been inserted."""
    deadline = time.monotonic() + PATIENCE
    while sorted(reactions.effects()) != numbers:
        assert time.monotonic() < deadline, reactions.effects()
        time.sleep(0.01)


def test_a_worker_runs_events_without_a_sweep_even_after_flushall(
    server: Valkey, working: Path, listen: Listen
) -> None:
    listen(Happened, reactions.write, database=True)
    commit(1)
    wait_for_effects([1])
    redis.client("broker").flushall()
    commit(2)
    # Neither the periodic check for due events nor a restart happens during this wait.
    wait_for_effects([1, 2])
    for number in range(3, 40):
        commit(number)
    wait_for_effects(list(range(1, 40)))
    assert heartbeats.last("worker") is None, "the flush has deleted the heartbeat"


def test_a_worker_sends_heartbeats(server: Valkey, working: Path) -> None:
    seen = heartbeats.last("worker")
    assert seen is not None


def test_a_worker_continues_after_redis_was_killed(server: Valkey, working: Path, listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    commit(1)
    wait_for_effects([1])
    server.kill()
    commit(2)
    worker.wait_for(working, "Connection to broker lost")
    server.start()
    close_circuits()
    commit(3)
    wait_for_effects([1, 2, 3])


def test_the_sweep_finds_rows_without_a_wake_up_and_another_scheduler_replaces_a_dead_leader(
    server: Valkey, listen: Listen
) -> None:
    listen(Happened, reactions.write, database=True)
    started = [worker.start(server.url, "worker", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle")]
    # The log level is the one that operators use; the tasks themselves are not logged.
    started += [worker.start(server.url, "beat", "-l", "info") for _ in range(2)]
    beats = started[1:]
    try:
        eventually(lambda: any("leads the schedule" in log.read_text() for _, log in beats))
        with wakes.waker.replaced(None):
            commit(1)
        wait_for_effects([1])
        leaders = [(process, log) for process, log in beats if "leads the schedule" in log.read_text()]
        assert len(leaders) == 1
        assert heartbeats.last("scheduler") is not None
        leaders[0][0].kill()
        with wakes.waker.replaced(None):
            commit(2)
        wait_for_effects([1, 2])
    finally:
        for process, log in started:
            process.kill()
            process.wait()
            log.unlink()
