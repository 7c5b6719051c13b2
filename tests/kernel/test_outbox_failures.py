"""Tests of failing reactions: only events with the same key wait, retries have growing delays, and failures are shown."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from social.kernel.clock import now
from social.kernel.drains import MAX_ATTEMPTS, back_off
from social.kernel.errors import Conflict, Unavailable
from social.kernel.outbox import OutboxRow, discard, drain, retry
from social.kernel.subscriptions import registry
from tests.kernel import reactions
from tests.kernel.reactions import Happened, Listen, commit, drain_everything

pytestmark = pytest.mark.usefixtures("effects", "woken")


def make_due() -> None:
    """End the back-off of all rows."""
    OutboxRow.objects.update(due_at=now() - timedelta(seconds=1))


def test_a_failing_row_blocks_only_its_key(listen: Listen) -> None:
    listen(Happened, reactions.stumble_in_database, database=True)
    reactions.poison.add(10)
    commit(*(Happened(thing, thing * 10 + n) for n in range(3) for thing in (1, 2, 3)))
    drain_everything()
    assert [row.payload["number"] for row in OutboxRow.objects.order_by("id")] == [10, 11, 12]
    assert sorted(reactions.effects()) == [20, 21, 22, 30, 31, 32]
    reactions.poison.clear()
    make_due()
    drain_everything()
    assert reactions.effects("thing:1") == [10, 11, 12]


def test_rows_before_a_failing_row_are_run(listen: Listen) -> None:
    listen(Happened, reactions.stumble_in_database, database=True)
    reactions.poison.add(2)
    commit(*(Happened(1, n) for n in range(4)))
    drain_everything()
    assert reactions.effects() == [0, 1]
    first, second = OutboxRow.objects.order_by("id")
    assert (first.attempts, second.attempts) == (1, 0)
    assert second.claim is None


def test_later_events_of_the_key_wait_for_a_row_that_backs_off(listen: Listen) -> None:
    listen(Happened, reactions.stumble)
    reactions.poison.add(1)
    commit(Happened(1, 1))
    drain_everything()
    commit(Happened(1, 2))
    reactions.calls.clear()
    drain_everything()
    assert reactions.calls == []


def test_a_failure_is_recorded_without_secrets_and_retried_later(listen: Listen) -> None:
    listen(Happened, reactions.stumble)
    reactions.poison.add(1)
    commit(Happened(1, 1))
    drain("default")
    row = OutboxRow.objects.get()
    assert row.attempts == 1
    assert row.last_error.startswith("ValueError: number 1 is poison")
    assert "reactions.py" in row.last_error
    assert "abcdef0123456789" not in row.last_error
    assert now() < row.due_at <= now() + timedelta(seconds=3)
    assert row.claim is None
    assert row.claimed_until is None
    assert row.dead_at is None


def test_a_very_long_error_is_cut(listen: Listen) -> None:
    def fail(events: Any) -> None:
        raise Unavailable("x\x00" * 100_000)

    fail.__qualname__ = "fail"
    listen(Happened, fail)
    commit(Happened(1, 1))
    drain("default")
    assert 1000 < len(OutboxRow.objects.get().last_error) <= 2000


def test_the_delay_doubles_up_to_an_hour() -> None:
    assert 1.5 <= back_off(1) <= 2.5
    assert 1536 <= back_off(11) <= 2560
    assert 2700 <= back_off(30) <= 4500
    assert len({back_off(5) for _ in range(20)}) > 1


def test_after_twelve_attempts_a_row_is_dead_and_logged_as_an_error(
    listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    listen(Happened, reactions.stumble)
    reactions.poison.add(1)
    commit(Happened(1, 1), Happened(1, 2))
    for _ in range(MAX_ATTEMPTS + 3):
        make_due()
        drain_everything()
    row = OutboxRow.objects.order_by("id")[0]
    assert row.attempts == MAX_ATTEMPTS == 12
    assert row.dead_at is not None
    assert reactions.calls.count([1]) == 12
    loud = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(loud) == 1
    assert "thing:1" in loud[0].getMessage()
    assert OutboxRow.objects.count() == 2, "a dead row blocks its key"


def test_an_operator_can_retry_dead_rows(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.stumble)
    commit(Happened(1, 1), Happened(1, 2), Happened(2, 3))
    OutboxRow.objects.filter(payload__number=1).update(dead_at=now(), attempts=12)
    drain_everything()
    assert OutboxRow.objects.count() == 2
    woken.clear()
    assert retry(by=None) == 1
    assert OutboxRow.objects.order_by("id")[0].attempts == 0
    drain_everything()
    assert not OutboxRow.objects.exists()
    assert [number for call in reactions.calls for number in call] == [3, 1, 2]


def test_an_operator_can_discard_a_row_so_that_its_key_continues(
    listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    listen(Happened, reactions.remember)
    commit(Happened(1, 1), Happened(1, 2))
    row = OutboxRow.objects.order_by("id")[0]
    OutboxRow.objects.filter(id=row.id).update(dead_at=now())
    with caplog.at_level(logging.WARNING):
        assert discard(row.id, by=None) is True
    assert '"number": 1' in caplog.text or "'number': 1" in caplog.text
    assert discard(row.id, by=None) is False
    drain_everything()
    assert reactions.calls == [[2]]


def test_a_claimed_row_can_be_neither_discarded_nor_retried(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(Happened(1, 1))
    OutboxRow.objects.update(claim=1, claimed_until=now() + timedelta(seconds=30))
    row = OutboxRow.objects.get()
    with pytest.raises(Conflict):
        discard(row.id, by=None)
    assert retry([row.id], by=None) == 0


def test_an_event_for_an_unknown_subscriber_waits_for_a_release_that_has_it(listen: Listen) -> None:
    subscription = listen(Happened, reactions.remember)
    listen(Happened, reactions.write, database=True)
    commit(Happened(1, 1))
    registry.remove(subscription)
    drain_everything()
    row = OutboxRow.objects.order_by("id")[0]
    assert "no subscriber tests.kernel.reactions.remember" in row.last_error
    registry.add(subscription)
    make_due()
    drain_everything()
    assert reactions.calls == [[1]]
    assert reactions.effects() == [1]


def test_a_failed_database_reaction_changes_nothing(listen: Listen) -> None:
    listen(Happened, reactions.stumble_in_database, database=True)
    reactions.poison.add(1)
    commit(Happened(1, 1))
    drain_everything()
    assert reactions.effects() == []


def test_a_reaction_that_breaks_its_transaction_fails_like_any_other(listen: Listen) -> None:
    def break_it(events: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    break_it.__qualname__ = "break_it"
    listen(Happened, break_it, database=True)
    commit(Happened(1, 1))
    drain_everything()
    assert "division by zero" in OutboxRow.objects.get().last_error


def test_a_stopped_drain_releases_its_rows(listen: Listen) -> None:
    def stop(events: Any) -> None:
        raise SystemExit

    stop.__qualname__ = "stop"
    listen(Happened, stop)
    commit(Happened(1, 1))
    with pytest.raises(SystemExit):
        drain("default")
    row = OutboxRow.objects.get()
    assert row.claim is None
    assert row.attempts == 0
