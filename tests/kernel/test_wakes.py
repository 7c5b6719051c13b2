"""Tests of messages that wake workers: they hardly delay a request if Redis is dead or silent, and are sent once it is back."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from social import broker as publishing
from social.celery import app
from social.kernel import redis, wakes
from social.kernel.events import publish
from social.kernel.outbox import OutboxRow
from social.queues import QUEUES, WAKE_QUEUES
from social.schedule import celery_url
from tests.kernel import reactions
from tests.kernel.reactions import Happened, Listen
from tests.kernel.valkey import Valkey, close_circuits
from tests.support.patience import watch_circuits


@pytest.fixture
def broker(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Valkey]:
    """A Valkey server for cache and broker, which the real sender uses and a test can kill."""
    with Valkey(tmp_path) as server:
        settings.REDIS_URLS = {**settings.REDIS_URLS, "cache": server.url, "broker": server.url}
        monkeypatch.setattr(app.conf, "broker_url", celery_url(server.url))
        monkeypatch.setattr(publishing, "_connections", {})
        close_circuits()
        with wakes.waker.replaced(publishing.send_drain):
            yield server
    close_circuits()


def waiting(lane: str = "local") -> int:
    """Return the number of pending messages that wake a worker for the queues of a lane."""
    return int(redis.client("broker").llen(f"broker:{WAKE_QUEUES[lane]}"))


def commit(number: int) -> None:
    """Publish an event in a transaction, as the creation of a post does."""
    with transaction.atomic():
        publish(Happened(number, number))


def test_one_wake_up_is_sent_after_the_commit(effects: None, broker: Valkey, listen: Listen) -> None:
    listen(Happened, reactions.remember)
    with transaction.atomic():
        publish(Happened(1, 1))
        assert waiting() == 0
    assert waiting() == 1
    commit(2)
    assert waiting() == 1, "one pending wake-up is enough"
    wakes.clear("default")
    commit(3)
    assert waiting() == 2


def test_a_commit_sends_one_message_to_each_lane_for_any_number_of_queues(
    effects: None, broker: Valkey, listen: Listen
) -> None:
    handlers = (reactions.remember, reactions.stumble, reactions.write, reactions.write_again)
    for queue, reaction in zip(("default", "feeds", "notifications", "fetches"), handlers, strict=True):
        listen(Happened, reaction, queue=queue)
    commit(1)
    assert (waiting("local"), waiting("network"), waiting("media")) == (1, 1, 0)
    wakes.clear("feeds")
    commit(2)
    assert (waiting("local"), waiting("network")) == (2, 1), (
        "only the queue that was drained meanwhile gets a new wake-up"
    )
    first, second = (
        json.loads(base64.b64decode(json.loads(text)["body"]))[0]
        for text in reversed(
            cast("list[bytes]", redis.client("broker").lrange(f"broker:{WAKE_QUEUES['local']}", 0, -1))
        )
    )
    assert sorted(first) == ["default", "feeds", "notifications"]
    assert second == ["feeds"]


def test_a_lost_wake_up_suppresses_others_for_only_two_seconds(broker: Valkey) -> None:
    wakes.wake("default")
    lifetime = redis.client("cache").pttl(redis.key("cache", "wake", "default"))
    assert 0 < int(lifetime) <= 2000


def test_with_redis_down_posts_are_published_after_one_attempt_to_wake(
    effects: None, broker: Valkey, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, reactions.remember)
    commit(0)
    broker.kill()
    failed = watch_circuits(monkeypatch)
    for number in range(1, 21):
        commit(number)
    assert len(failed) == len(set(failed))
    assert OutboxRow.objects.count() == 21


def test_a_silent_redis_delays_only_one_post(
    effects: None, broker: Valkey, listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, reactions.remember)
    commit(0)
    failed = watch_circuits(monkeypatch)
    with broker.stopped():
        for number in range(1, 21):
            commit(number)
    assert len(failed) == len(set(failed)), "each server delays only one post"


def test_a_silent_broker_with_a_working_cache_delays_only_one_post(
    effects: None, broker: Valkey, listen: Listen, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # One post wakes many queues, but waits for the timeout only once, not once for each queue.
    for queue, reaction in zip(
        QUEUES, (reactions.remember, reactions.stumble, reactions.write, reactions.write_again), strict=False
    ):
        listen(Happened, reaction, queue=queue)
    (tmp_path / "other").mkdir()
    with Valkey(tmp_path / "other") as other:
        monkeypatch.setattr(app.conf, "broker_url", celery_url(other.url))
        monkeypatch.setattr(publishing, "_connections", {})
        with other.stopped():
            failed = watch_circuits(monkeypatch)
            for number in range(10):
                commit(number)
            assert failed == [wakes.circuit]
        other.kill()
        for queue in QUEUES:
            wakes.clear(queue)
        wakes.circuit.close()
        failed.clear()
        for number in range(10, 20):
            commit(number)
        assert failed == [wakes.circuit]


def test_wake_ups_are_sent_again_when_redis_is_back(effects: None, broker: Valkey, listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(1)
    broker.kill()
    commit(2)
    broker.start()
    close_circuits()
    commit(3)
    assert waiting() == 1


def test_the_first_wake_up_after_a_restart_of_the_broker_arrives(effects: None, broker: Valkey, listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(1)
    broker.kill()
    broker.start()
    commit(2)
    assert waiting() == 1


def test_default_workers_serve_unknown_queues(broker: Valkey) -> None:
    wakes.wake("of-an-older-release")
    assert waiting(QUEUES["default"].lane) == 1


def test_without_a_sender_a_wake_up_does_nothing(broker: Valkey) -> None:
    with wakes.waker.replaced(None):
        wakes.wake("default")
    assert redis.client("cache").dbsize() == 0
