"""Tests of the task that drains queues: it stops when nothing is due, yields to other queues, and wakes another worker."""

import time
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from kombu.utils.imports import symbol_by_name

from social import tasks
from social.celery import app
from social.kernel import redis, wakes
from social.kernel.outbox import OutboxRow, drain, overdue_queues
from tests.kernel import reactions
from tests.kernel.reactions import Happened, Listen, commit
from tests.support.altered import altered

_MESSAGE = {
    "headers": {"id": "1", "task": "social.tasks.drain_outbox", "lang": "py"},
    "body": b'[["default"], {}, {}]',
    "payload": [["default"], {}, {}],
    "content_type": "application/json",
    "content_encoding": "utf-8",
    "properties": {},
    "delivery_info": {},
}


@pytest.fixture(autouse=True)
def _empty_outbox(effects: None, woken: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide empty tables, intercepted wake-ups, and a process that has not drained a queue yet."""
    monkeypatch.setattr(tasks, "_drained_at", {})


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The lengths in seconds of a drain's pauses, in which it would wait for more events; the test skips the pauses."""
    pauses: list[float] = []
    monkeypatch.setattr(tasks, "time", altered(time, sleep=pauses.append))
    return pauses


def test_a_drain_runs_all_due_rows(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    commit(*(Happened(n % 3, n) for n in range(1000)))
    tasks.drain_queue("default")
    assert not OutboxRow.objects.exists()
    assert sorted(reactions.effects()) == list(range(1000))


def test_a_few_rows_take_one_claim(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    commit(*(Happened(n, n) for n in range(5)))
    with CaptureQueriesContext(connection) as queries:
        tasks.drain_queue("default")
    assert sum("social_outbox_claim" in q["sql"] for q in queries.captured_queries) == 1
    assert len(reactions.effects()) == 5


@pytest.mark.parametrize("keys", [[3], [1] * 13, [14], [30], [200], [250], [2] * 50 + [90], [1] * 150 + [3], [7] * 27])
def test_no_due_row_is_left_however_keys_are_distributed(listen: Listen, keys: list[int]) -> None:
    listen(Happened, reactions.write, database=True)
    commit(*(Happened(key, n) for key, length in enumerate(keys) for n in range(length)))
    tasks.drain_queue("default")
    assert not OutboxRow.objects.exists()


def test_a_single_event_is_run_immediately(
    listen: Listen, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, reactions.remember)
    monkeypatch.setattr(tasks, "STREAM", 0.0)
    for number in (1, 2):
        commit(Happened(number, number))
        tasks.drain_queue("default")
    assert reactions.calls == [[1], [2]]
    assert waited == []


def test_a_continuous_flow_of_events_is_run_in_batches(
    listen: Listen, woken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, reactions.remember)
    monkeypatch.setattr(tasks, "STREAM", 60.0)
    commit(Happened(1, 1))
    tasks.drain_queue("default")
    commit(Happened(2, 2))
    woken.clear()
    monkeypatch.setattr(tasks, "time", altered(time, sleep=lambda _seconds: commit(*(Happened(n, n) for n in (3, 4)))))
    tasks.drain_queue("default")
    assert reactions.calls == [[1], [2, 3, 4]]
    assert woken == [], "an event during the pause of a drain sends no message"
    commit(Happened(5, 5))
    assert woken == ["default"], "an event after the pause sends a message"


def test_draining_one_queue_does_not_delay_another(listen: Listen, waited: list[float]) -> None:
    listen(Happened, reactions.remember, queue="feeds")
    tasks.drain_queue("default")
    commit(Happened(1, 1))
    tasks.drain_queue("feeds")
    assert reactions.calls == [[1]]
    assert waited == []


def test_wake_up_messages_are_not_acknowledged() -> None:
    request = symbol_by_name(tasks.drain_outbox.Request)
    acknowledged: list[object] = []
    taken = request(
        SimpleNamespace(**_MESSAGE), on_ack=lambda *words: acknowledged.append(words), app=app, task=tasks.drain_outbox
    )
    taken.on_accepted(1, 0.0)
    assert taken.acknowledged
    assert acknowledged == []


def test_a_backlog_wakes_one_more_worker(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    commit(*(Happened(n, n) for n in range(450)))
    woken.clear()
    tasks.drain_queue("default")
    assert woken == ["default"]


def test_a_drain_ends_after_its_time_slice_and_wakes_its_queue_again(
    listen: Listen, woken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, reactions.remember)
    monkeypatch.setattr(tasks, "SLICE", 0.0)
    commit(*(Happened(n, n) for n in range(450)))
    woken.clear()
    tasks.drain_queue("default")
    assert woken == ["default"]
    assert OutboxRow.objects.count() == 250


def test_an_event_published_by_a_reaction_for_its_own_queue_runs_without_a_message(
    listen: Listen, woken: list[str]
) -> None:
    listen(Happened, _tell_more)
    commit(Happened(1, 1))
    assert woken == ["default"]
    tasks.drain_queue("default")
    assert woken == ["default"]
    assert reactions.calls == [[1], [2]]
    assert not OutboxRow.objects.exists()
    commit(Happened(3, 3))
    assert woken == ["default", "default"], "after the drain a message is sent again"


def test_an_event_published_by_a_reaction_for_another_queue_wakes_that_queue(listen: Listen, woken: list[str]) -> None:
    listen(Happened, _tell_more, queue="feeds")
    with wakes.draining("default"):
        commit(Happened(1, 1))
    assert woken == ["feeds"]


def test_the_holder_of_a_claim_also_runs_later_events_of_the_key(listen: Listen) -> None:
    listen(Happened, _tell_behind)
    commit(Happened(1, 1))
    tasks.drain_queue("default")
    assert reactions.calls == [[1], [2], [3]]
    assert not OutboxRow.objects.exists()


def _tell_behind(events: Any) -> None:
    reactions.remember(events)
    number = events[0].number
    if number < 3:
        commit(Happened(1, number + 1))
        assert drain("default") == 0, "a worker woken for it finds the key claimed"


def test_a_retry_is_found_by_the_sweep_when_it_is_due(listen: Listen) -> None:
    listen(Happened, reactions.stumble)
    reactions.poison.add(1)
    commit(Happened(1, 1))
    tasks.drain_queue("default")
    assert overdue_queues() == []
    OutboxRow.objects.update(due_at=Now() - timedelta(seconds=3))
    assert overdue_queues() == ["default"]


def _tell_more(events: Any) -> None:
    redis.client("cache").ping()
    reactions.remember(events)
    if events[0].number < 2:
        commit(Happened(2, 2))
