"""Promises of the task that drains: it works until nothing is due, makes room for others, and calls for help in a backlog."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from social import tasks
from social.kernel import redis, wakes
from social.kernel.events import publish
from social.kernel.outbox import OutboxRow, drain, overdue_queues
from tests.kernel import news
from tests.kernel.news import Happened

Listen = Callable[..., Any]


@pytest.fixture(autouse=True)
def _ground(effects: None, woken: list[str]) -> None:
    """Tables and a caught wake-up."""


def tell(*events: Happened) -> None:
    """Publish in a transaction of its own."""
    with transaction.atomic():
        publish(*events)


def test_it_works_until_nothing_is_due(listen: Listen) -> None:
    listen(Happened, news.write, database=True)
    tell(*(Happened(n % 3, n) for n in range(1000)))
    tasks.drain_outbox("default")
    assert not OutboxRow.objects.exists()
    assert sorted(news.effects()) == list(range(1000))


def test_a_few_rows_cost_one_claim(listen: Listen) -> None:
    listen(Happened, news.write, database=True)
    tell(*(Happened(n, n) for n in range(5)))
    with CaptureQueriesContext(connection) as queries:
        tasks.drain_outbox("default")
    assert sum("social_outbox_claim" in q["sql"] for q in queries.captured_queries) == 1
    assert len(news.effects()) == 5


@pytest.mark.parametrize("lanes", [[3], [1] * 13, [14], [30], [200], [250], [2] * 50 + [90], [1] * 150 + [3], [7] * 27])
def test_no_row_is_left_whatever_the_shape_of_the_backlog(listen: Listen, lanes: list[int]) -> None:
    listen(Happened, news.write, database=True)
    tell(*(Happened(lane, n) for lane, length in enumerate(lanes) for n in range(length)))
    tasks.drain_outbox("default")
    assert not OutboxRow.objects.exists()


def test_a_backlog_calls_one_more_worker(listen: Listen, woken: list[str]) -> None:
    listen(Happened, news.remember)
    tell(*(Happened(n, n) for n in range(450)))
    woken.clear()
    tasks.drain_outbox("default")
    assert woken == ["default"]


def test_after_its_slice_it_makes_room_and_is_sent_for_again(
    listen: Listen, woken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listen(Happened, news.remember)
    monkeypatch.setattr(tasks, "SLICE", 0.0)
    tell(*(Happened(n, n) for n in range(450)))
    woken.clear()
    tasks.drain_outbox("default")
    assert woken == ["default"]
    assert OutboxRow.objects.count() == 250


def test_news_that_a_reaction_makes_for_its_own_queue_is_run_at_once_and_without_a_message(
    listen: Listen, woken: list[str]
) -> None:
    listen(Happened, _tell_more)
    tell(Happened(1, 1))
    assert woken == ["default"]
    tasks.drain_outbox("default")
    assert woken == ["default"]
    assert news.calls == [[1], [2]]
    assert not OutboxRow.objects.exists()
    tell(Happened(3, 3))
    assert woken == ["default", "default"], "after the drain a message is sent again"


def test_news_that_a_reaction_makes_for_another_queue_gets_a_wake_up(listen: Listen, woken: list[str]) -> None:
    listen(Happened, _tell_more, queue="feeds")
    with wakes.draining("default"):
        tell(Happened(1, 1))
    assert woken == ["feeds"]


def test_news_behind_a_row_in_hand_is_run_by_its_holder(listen: Listen) -> None:
    listen(Happened, _tell_behind)
    tell(Happened(1, 1))
    tasks.drain_outbox("default")
    assert news.calls == [[1], [2], [3]]
    assert not OutboxRow.objects.exists()


def _tell_behind(events: Any) -> None:
    news.remember(events)
    number = events[0].number
    if number < 3:
        tell(Happened(1, number + 1))
        assert drain("default") == 0, "who was woken for it finds the lane held"


def test_a_retry_is_swept_up_when_it_is_due_though_nobody_was_woken_for_it(listen: Listen) -> None:
    listen(Happened, news.stumble)
    news.poison.add(1)
    tell(Happened(1, 1))
    tasks.drain_outbox("default")
    assert overdue_queues() == []
    OutboxRow.objects.update(due_at=Now() - timedelta(seconds=3))
    assert overdue_queues() == ["default"]


def _tell_more(events: Any) -> None:
    redis.client("cache").ping()
    news.remember(events)
    if events[0].number < 2:
        tell(Happened(2, 2))
