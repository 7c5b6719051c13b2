"""Promises of the real worker and scheduler: news is heard within a moment, through FLUSHALL and kills, by one leader."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from social import broker
from social.celery import app
from social.kernel import heartbeats, redis, wakes
from social.kernel.events import publish
from social.settings import env
from tests.kernel import news, worker
from tests.kernel.news import Happened
from tests.kernel.valkey import Valkey
from tests.support.patience import SOON

Listen = Callable[..., Any]
pytestmark = pytest.mark.verify


@pytest.fixture
def server(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, effects: None) -> Iterator[Valkey]:
    """A Redis for all roles."""
    with Valkey(tmp_path) as server:
        settings.REDIS_URLS = dict.fromkeys(settings.REDIS_URLS, server.url)
        monkeypatch.setattr(app.conf, "broker_url", env.celery_url(server.url))
        monkeypatch.setattr(broker, "_connections", {})
        _close_circuits()
        with wakes.waker.replaced(broker.send_drain):
            yield server
    _close_circuits()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM social_lease")


@pytest.fixture(params=[("threads", "2"), ("prefork", "2")], ids=["threads", "prefork"])
def working(request: pytest.FixtureRequest, server: Valkey) -> Iterator[Any]:
    """A worker, and a way to wait for its log."""
    pool, concurrency = request.param
    process, log = worker.start(
        server.url, "worker", "-P", pool, "-c", concurrency, "--without-gossip", "--without-mingle", "-l", "info"
    )
    try:
        worker.wait_for(log, "ready.")
        yield process
    finally:
        process.kill() if pool == "threads" else process.terminate()
        process.wait(20)
        log.unlink()


def _close_circuits() -> None:
    wakes.circuit.close()
    for role in redis.TIMEOUTS:
        redis.circuit(role).close()


def tell(number: int) -> None:
    """Publish in a transaction of its own."""
    with transaction.atomic():
        publish(Happened(number, number))


def wait_for_effects(numbers: list[int], seconds: float) -> float:
    """Until every number has had its effect; the seconds it took."""
    began = time.monotonic()
    while sorted(news.effects()) != numbers:
        assert time.monotonic() - began < seconds, news.effects()
        time.sleep(0.01)
    return time.monotonic() - began


def test_a_worker_hears_news_at_once_also_after_flushall(server: Valkey, working: Any, listen: Listen) -> None:
    listen(Happened, news.write, database=True)
    tell(1)
    wait_for_effects([1], SOON)
    redis.client("broker").flushall()
    tell(2)
    # Nothing sweeps here, and nobody is restarted.
    wait_for_effects([1, 2], SOON)
    for number in range(3, 40):
        tell(number)
    wait_for_effects(list(range(1, 40)), SOON)
    assert heartbeats.last("worker") is None, "the flush took it"


def test_a_worker_shows_that_it_lives(server: Valkey, working: Any) -> None:
    seen = heartbeats.last("worker")
    assert seen is not None


def test_a_worker_goes_on_when_redis_was_killed(server: Valkey, working: Any, listen: Listen) -> None:
    listen(Happened, news.write, database=True)
    tell(1)
    wait_for_effects([1], SOON)
    server.kill()
    tell(2)
    time.sleep(1)
    server.start()
    _close_circuits()
    time.sleep(3)
    tell(3)
    wait_for_effects([1, 2, 3], 20)


def test_the_schedulers_sweep_finds_what_no_wake_up_announced_and_another_takes_over_when_the_leader_dies(
    server: Valkey, listen: Listen
) -> None:
    listen(Happened, news.write, database=True)
    started = [worker.start(server.url, "worker", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle")]
    # A log line for each would be nicer, but -l info of beat is what an operator sees too.
    started += [worker.start(server.url, "beat", "-l", "info") for _ in range(2)]
    beats = started[1:]
    try:
        deadline = time.monotonic() + 20
        while not any("leads the schedule" in log.read_text() for _, log in beats):
            assert time.monotonic() < deadline, [log.read_text() for _, log in beats]
            time.sleep(0.1)
        with wakes.waker.replaced(None):
            tell(1)
        wait_for_effects([1], 30)
        leaders = [(process, log) for process, log in beats if "leads the schedule" in log.read_text()]
        assert len(leaders) == 1
        assert heartbeats.last("scheduler") is not None
        leaders[0][0].kill()
        killed = time.monotonic()
        with wakes.waker.replaced(None):
            tell(2)
        wait_for_effects([1, 2], 45)
        assert time.monotonic() - killed < 40
    finally:
        for process, log in started:
            process.kill()
            process.wait()
            log.unlink()
