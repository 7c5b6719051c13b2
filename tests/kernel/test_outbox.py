"""Tests of draining the outbox: every reaction runs, in order per key, and with `database=True` has exactly one effect."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from social.kernel.clock import now
from social.kernel.events import publish
from social.kernel.outbox import OutboxRow, drain, measure, overdue_queues
from tests.kernel import reactions
from tests.kernel.reactions import Aside, Happened, Listen, commit, drain_everything

pytestmark = pytest.mark.usefixtures("effects", "woken")


def in_threads(count: int, work: Callable[[], None]) -> None:
    """Run `work` in threads with their own connections, and raise the first error."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_three_concurrent_drains_keep_the_order_of_each_key_and_run_each_row_once(listen: Listen) -> None:
    listen(Happened, reactions.write_late, database=True)
    expected: dict[int, list[int]] = {thing: [] for thing in range(20)}
    for number in range(600):
        thing = number * 7 % 20
        expected[thing].append(number)
        commit(Happened(thing, number))
    in_threads(3, lambda: drain_everything(limit=30))
    assert {thing: reactions.effects(f"thing:{thing}") for thing in expected} == expected
    assert not OutboxRow.objects.exists()


def test_the_order_is_kept_while_events_are_being_published(listen: Listen) -> None:
    listen(Happened, reactions.write_late, database=True)
    done = threading.Event()
    numbers = iter(range(10_000))
    guard = threading.Lock()

    def publisher() -> None:
        for _ in range(60):
            # The lock has the effect of the row lock that real publishers hold: only one transaction per key at a time.
            with guard:
                commit(Happened(1, next(numbers)))

    def drainer() -> None:
        while not done.is_set():
            drain("default", 10)

    drains = threading.Thread(target=in_threads, args=(3, drainer))
    drains.start()
    in_threads(2, publisher)
    done.set()
    drains.join()
    drain_everything()
    assert reactions.effects() == list(range(120))


def test_a_moved_reaction_is_found_under_its_former_name(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True, name="tests.kernel.former.write")
    commit(Happened(1, 0))
    assert [row.subscriber for row in OutboxRow.objects.all()] == ["tests.kernel.former.write"]
    drain_everything()
    assert reactions.effects() == [0]


def test_rows_of_a_key_run_in_order_across_all_subscribers_of_a_queue(listen: Listen) -> None:
    order: list[tuple[str, int]] = []

    def first(events: Any) -> None:
        order.extend(("first", event.number) for event in events)

    def second(events: Any) -> None:
        order.extend(("second", event.number) for event in events)

    first.__qualname__, second.__qualname__ = "first", "second"
    listen(Happened, first)
    listen(Happened, second)
    commit(Happened(1, 1))
    commit(Happened(1, 2))
    drain_everything()
    assert order == [("first", 1), ("second", 1), ("first", 2), ("second", 2)]


def test_one_call_gets_the_events_of_many_keys(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(*(Happened(n, n) for n in range(150)))
    assert drain("default") == 150
    assert reactions.calls == [list(range(150))]


def test_the_parameter_batch_limits_the_events_of_a_call(listen: Listen) -> None:
    listen(Happened, reactions.remember, batch=2)
    commit(*(Happened(n, n) for n in range(5)))
    drain("default")
    assert reactions.calls == [[0, 1], [2, 3], [4]]


def test_a_drain_runs_only_rows_of_its_queue(listen: Listen) -> None:
    listen(Happened, reactions.remember, queue="feeds")
    commit(Happened(1, 1))
    assert drain("default") == 0
    assert drain("feeds") == 1


def test_many_rows_of_one_key_are_claimed_in_large_batches(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    commit(*(Happened(1, n) for n in range(500)))
    with CaptureQueriesContext(connection) as queries:
        drain_everything()
    assert reactions.effects() == list(range(500))
    assert len([q for q in queries.captured_queries if "social_outbox_claim" in q["sql"]]) == 4


@pytest.mark.parametrize(
    "state",
    [
        {"due_at": "2100-01-01T00:00:00Z"},
        {"dead_at": "2020-01-01T00:00:00Z"},
        {"claimed_until": "2100-01-01T00:00:00Z"},
    ],
)
def test_a_waiting_row_blocks_later_rows_of_its_key_even_when_an_older_one_appears(
    listen: Listen, state: dict[str, str]
) -> None:
    """A transaction that commits late may add a row that is older than the one which has failed or is running."""
    listen(Happened, reactions.remember)
    commit(*(Happened(1, n) for n in range(4)))
    OutboxRow.objects.filter(payload__number=2).update(**state)
    drain_everything()
    assert [number for call in reactions.calls for number in call] == [0, 1]


def test_claimed_rows_cannot_be_claimed_again_until_the_lease_expires(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(Happened(1, 1), Happened(1, 2))
    OutboxRow.objects.filter(payload__number=1).update(claim=7, claimed_until=now() + timedelta(minutes=1))
    assert drain("default") == 0
    OutboxRow.objects.update(claimed_until=now() - timedelta(seconds=1))
    assert drain("default") == 2
    assert reactions.calls == [[1], [2]]


def test_a_drain_whose_lease_has_expired_has_no_effect(listen: Listen) -> None:
    """The first reaction takes so long that a second drain claims its rows and finishes them."""
    listen(Happened, reactions.write, database=True)
    listen(Aside, _lose_the_lease)
    commit(Aside(0), Happened(1, 1), Happened(1, 2))
    drain("default")
    assert reactions.effects() == []
    with connection.cursor() as cursor:
        cursor.execute("UPDATE social_outbox SET claimed_until = now() - interval '1 second'")
    drain_everything()
    assert reactions.effects() == [1, 2]


def _lose_the_lease(events: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE social_outbox SET claim = 1, claimed_until = now() + interval '1 minute' WHERE key <> ''"
        )


@pytest.mark.verify
def test_a_short_lease_is_renewed_during_a_long_call(listen: Listen) -> None:
    held: list[int] = []

    def look(events: Any) -> None:
        for _ in range(8):
            time.sleep(0.15)
            held.append(OutboxRow.objects.filter(claimed_until__gt=Now()).count())

    look.__qualname__ = "look"
    listen(Happened, look, batch=1, seconds=120)
    commit(Happened(1, 1), Happened(2, 2))
    drain("default", lease=0.6)
    assert held == [2] * 8 + [1] * 8
    assert not OutboxRow.objects.exists()


@pytest.mark.verify
def test_after_the_time_limit_of_a_call_another_process_runs_its_rows(listen: Listen) -> None:
    listen(Happened, _oversleep, seconds=0.3)
    commit(Happened(1, 1))
    drain("default", lease=0.4)
    assert reactions.calls == [[1], [1]]


def _oversleep(events: Any) -> None:
    reactions.remember(events)
    if len(reactions.calls) == 1:
        time.sleep(1.2)
        assert drain("default") == 1


def test_an_event_without_a_key_blocks_no_other(listen: Listen) -> None:
    listen(Aside, reactions.stumble)
    reactions.poison.add(1)
    commit(*(Aside(n) for n in range(4)))
    drain_everything()
    assert {row.payload["number"] for row in OutboxRow.objects.all()} == {1}


def test_events_published_by_a_reaction_are_run(listen: Listen) -> None:
    listen(Happened, _pass_on, database=True)
    listen(Aside, reactions.remember)
    commit(Happened(1, 5))
    drain_everything()
    assert reactions.calls == [[5]]


def _pass_on(events: Any) -> None:
    publish(*(Aside(event.number) for event in events))


def test_ten_thousand_waiting_rows_do_not_hide_rows_of_other_keys(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(*(Happened(1, n) for n in range(10_000)))
    OutboxRow.objects.filter(id=OutboxRow.objects.order_by("id").values("id")[:1]).update(dead_at=now())
    commit(*(Happened(n, n) for n in range(2, 7)))
    assert drain("default") == 5
    assert reactions.calls == [[2, 3, 4, 5, 6]]


def test_a_drain_inside_a_transaction_is_refused(listen: Listen) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        drain("default")


def test_no_transaction_is_open_during_a_reaction_that_is_not_for_the_database(listen: Listen) -> None:
    states: list[bool] = []

    def look(events: Any) -> None:
        states.append(connection.in_atomic_block)

    look.__qualname__ = "look"
    listen(Happened, look)
    commit(Happened(1, 1))
    drain("default")
    assert states == [False]


def test_the_sweep_finds_queues_with_overdue_unclaimed_rows(listen: Listen) -> None:
    for queue in ("default", "feeds", "media"):
        listen(
            Happened,
            getattr(reactions, {"default": "remember", "feeds": "write", "media": "stumble"}[queue]),
            queue=queue,
        )
    commit(Happened(1, 1))
    assert overdue_queues() == []
    OutboxRow.objects.exclude(queue="media").update(due_at=now() - timedelta(seconds=11))
    OutboxRow.objects.filter(queue="feeds").update(claim=1, claimed_until=now() + timedelta(seconds=5))
    assert overdue_queues() == ["default"]
    OutboxRow.objects.filter(queue="feeds").update(claimed_until=now())
    assert overdue_queues() == ["default", "feeds"]
    OutboxRow.objects.filter(queue="default").update(dead_at=now())
    assert overdue_queues() == ["feeds"]


def test_the_figures_show_depth_age_and_dead_rows(listen: Listen) -> None:
    listen(Happened, reactions.remember)
    commit(*(Happened(n, n) for n in range(4)))
    OutboxRow.objects.filter(payload__number=0).update(dead_at=now())
    OutboxRow.objects.filter(payload__number=1).update(due_at=now() - timedelta(seconds=100))
    OutboxRow.objects.filter(payload__number=2).update(due_at=now() + timedelta(seconds=100))
    (figures,) = measure()
    assert (figures.queue, figures.depth, figures.dead) == ("default", 2, 1)
    assert 100 <= figures.oldest < 110
    assert 100 <= figures.p99 < 110


def test_a_wake_up_takes_few_statements(listen: Listen) -> None:
    listen(Happened, reactions.write, database=True)
    commit(*(Happened(n, n) for n in range(200)))
    with CaptureQueriesContext(connection) as queries:
        drain("default")
    assert [q["sql"].split()[0] for q in queries.captured_queries] == [
        "SELECT",  # the query that claims the rows
        *("BEGIN", "DELETE", "INSERT", "COMMIT"),  # the transaction of the reaction and the deletion of its rows
    ]
