"""Tests of `publish`: events are written in the transaction of their change, for all subscribers, in one query."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from social.kernel.clock import now
from social.kernel.events import Event, change_and_publish, on, publish
from social.kernel.outbox import OutboxRow, drain
from tests.kernel import reactions
from tests.kernel.reactions import Aside, Happened, Listen

pytestmark = pytest.mark.usefixtures("effects", "woken")


class Measured(Event, key="thing:{thing_id}"):
    thing_id: int
    value: Any


handled: list[Event] = []


def handle(events: Sequence[Event]) -> None:
    """Record the events."""
    handled.extend(events)


def test_an_event_outside_a_transaction_is_refused(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    with pytest.raises(RuntimeError, match=r"Happened.*transaction"):
        publish(Happened(1, 1))


def test_a_rolled_back_transaction_publishes_and_wakes_nothing(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        publish(Happened(1, 1))
        raise ZeroDivisionError
    assert not OutboxRow.objects.exists()
    assert woken == []
    assert drain("default") == 0
    assert reactions.calls == []


def test_only_the_events_of_a_rolled_back_savepoint_are_not_published(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    with transaction.atomic():
        publish(Happened(1, 1))
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            publish(Happened(1, 2))
            raise ZeroDivisionError
        with transaction.atomic():
            publish(Happened(1, 3))
    assert woken == ["default"]
    drain("default")
    assert reactions.calls == [[1, 3]]


def test_a_wake_up_is_sent_even_if_the_first_savepoint_was_rolled_back(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            publish(Happened(1, 1))
            raise ZeroDivisionError
        publish(Happened(1, 2))
    assert woken == ["default"]


def test_an_event_is_delivered_to_exactly_its_subscribers(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    listen(Happened, reactions.write_again, database=True)
    listen(Aside, reactions.remember)
    with transaction.atomic():
        publish(Happened(1, 7))
    drain("default")
    assert reactions.effects() == [7, 7]
    assert reactions.calls == []


def test_an_uninterested_subscriber_gets_no_row(listen: Listen) -> None:
    listen(Happened, reactions.remember, when=lambda event: event.loud)
    with transaction.atomic():
        publish(Happened(1, 1, loud=False), Happened(1, 2, loud=True))
    assert OutboxRow.objects.count() == 1


def test_many_events_for_many_subscribers_take_one_statement_and_one_wake_up(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    listen(Happened, reactions.write, queue="feeds", database=True)
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        publish(*(Happened(n, n) for n in range(50)))
        publish(Happened(50, 50))
        assert len(connection.run_on_commit) == 1
    assert len([q for q in queries.captured_queries if "INSERT" in q["sql"]]) == 2
    assert OutboxRow.objects.count() == 102
    assert sorted(woken) == ["default", "feeds"]


def test_a_change_can_be_made_and_published_in_one_statement(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    listen(Happened, reactions.write, queue="feeds", database=True)
    change = "INSERT INTO test_effect (key) SELECT %(key)s WHERE %(wanted)s = 'yes' RETURNING id, key"
    with CaptureQueriesContext(connection) as queries:
        assert change_and_publish(change, {"key": "none", "wanted": "no"}, Happened(1, 0), number="number") == []
    assert (len(queries), OutboxRow.objects.count(), woken) == (1, 0, [])
    ((number, key),) = change_and_publish(change, {"key": "one", "wanted": "yes"}, Happened(1, 0), number="number")
    assert (key, sorted(woken)) == ("one", ["default", "feeds"])
    assert list(OutboxRow.objects.values_list("key", "event").distinct()) == [("thing:1", "Happened")]
    assert (drain("default"), drain("feeds"), reactions.calls) == (1, 1, [[number]])
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        change_and_publish(change, {"key": "two", "wanted": "yes"}, Happened(1, 0), number="number")
        raise ZeroDivisionError
    assert (OutboxRow.objects.count(), sorted(woken)) == (0, ["default", "feeds"])


def test_rows_are_in_the_order_of_publishing(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    with transaction.atomic():
        publish(*(Happened(1, n) for n in range(300)))
    assert [row.payload["number"] for row in OutboxRow.objects.order_by("id")] == list(range(300))


def test_a_decoded_event_equals_the_published_one(listen: Listen) -> None:
    handled.clear()
    listen(Measured, handle)
    sent = [Measured(2**63 - 1, v) for v in (True, None, "ü'\"\\%s", (1, 2), ("a",), ())]
    with transaction.atomic():
        publish(*sent)
    drain("default")
    assert handled == sent


@pytest.mark.parametrize("value", [1.5, {"a": 1}, [1], object(), ((1,),), b"x"])
def test_an_event_with_other_values_than_ids_and_flags_is_refused(listen: Listen, value: Any) -> None:
    listen(Measured, reactions.remember)
    with pytest.raises(TypeError, match=r"Measured\.value"), transaction.atomic():
        publish(Measured(1, value))


def test_a_scheduled_event_waits_for_its_time_without_blocking_others(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.remember)
    with transaction.atomic():
        publish(Happened(1, 1), due_at=now() + timedelta(days=7))
        publish(Happened(1, 2), due_at=now() + timedelta(milliseconds=-1))
    assert woken == []
    with transaction.atomic():
        publish(Happened(1, 3))
    assert drain("default") == 2
    assert reactions.calls == [[2, 3]]
    OutboxRow.objects.update(due_at=now() - timedelta(seconds=1))
    assert drain("default") == 1
    assert reactions.calls[-1] == [1]


def test_a_field_that_this_release_does_not_have_is_ignored() -> None:
    assert Happened.decoded('{"thing_id": 1, "number": 2, "gone": 3}') == Happened(1, 2)


def test_a_repeated_subscription_has_no_effect_and_one_with_other_parameters_is_refused(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    on(Happened, reactions.remember)
    with pytest.raises(ValueError, match="other terms"):
        on(Happened, reactions.remember, queue="feeds")
    with transaction.atomic():
        publish(Happened(1, 1))
    assert OutboxRow.objects.count() == 1


def test_a_reaction_that_is_not_a_module_level_function_is_refused() -> None:
    with pytest.raises(ValueError, match="module-level"):
        on(Happened, lambda events: None)
