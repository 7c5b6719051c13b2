"""Tests of the runner for every kind of job that waits for other servers."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from federation.events import FetchesDue
from federation.inbound.fetch_queue import FETCHES
from federation.models import Fetch
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.outbox import OutboxRow, drain
from social.kernel.runner import TERMS, Failed, Host, Job, Run, Steps, WaitingRow, Work, enqueue
from social.kernel.subscriptions import registry
from social.queues import QUEUES
from tests.support.at_once import at_once, until_waiting

pytestmark = pytest.mark.django_db
HOSTS = ("a.example", "b.example", "c.example", "d.example")


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TERMS, "fetches", replace(TERMS["fetches"], at_once=5, per_host=2, claimed=4))


@pytest.fixture
def rows() -> None:
    Fetch.objects.bulk_create(
        Fetch(kind="post", uri=f"{host}/{number}", host=host) for host in HOSTS for number in range(8)
    )


@pytest.mark.usefixtures("rows")
def test_the_terms_limit_the_rows_under_way() -> None:
    under_way: Counter[str] = Counter()
    most_of_one, most_of_all = 0, 0

    async def ask(host: str) -> None:
        nonlocal most_of_one, most_of_all
        under_way[host] += 1
        most_of_one, most_of_all = max(most_of_one, under_way[host]), max(most_of_all, under_way.total())
        # After these turns of the event loop, every other job that can run at the same time has started.
        for _turn in range(20):
            await asyncio.sleep(0)
        under_way[host] -= 1

    def steps(job: Job[Fetch]) -> Steps:
        yield ask(job.row.host)

    def begin(jobs: Sequence[Job[Fetch]]) -> Iterable[Steps]:
        return map(steps, jobs)

    Work(Fetch, begin).run()
    assert (most_of_one, most_of_all) == (2, 5)
    assert not Fetch.objects.exists()


@pytest.mark.usefixtures("rows")
def test_a_failing_row_does_not_stop_others_and_is_given_up_after_its_attempts() -> None:
    tried: Counter[str] = Counter()

    def steps(job: Job[Fetch]) -> Steps:
        tried[job.row.uri] += 1
        yield asyncio.sleep(0)
        if job.row.uri == "a.example/0":
            raise RuntimeError("a mistake of ours")
        if job.row.uri == "a.example/1":
            raise Failed("not now")
        if job.row.uri == "a.example/2":
            raise Failed("never", final=True)

    def begin(jobs: Sequence[Job[Fetch]]) -> Iterator[Steps]:
        return map(steps, jobs)

    work = Work(Fetch, begin)
    for _run in range(5):
        work.run()
        Fetch.objects.update(due_at=Now())
    given_up = dict(Fetch.objects.exclude(dead_at=None).values_list("uri", "last_error"))
    assert given_up == {
        "a.example/0": "RuntimeError: a mistake of ours",
        "a.example/1": "not now",
        "a.example/2": "never",
    }
    assert [tried[uri] for uri in sorted(given_up)] == [3, 3, 1]
    assert {tried[uri] for uri in tried.keys() - given_up.keys()} == {1}
    assert not Host.objects.exists(), "the failures are not the host's"


@pytest.mark.usefixtures("rows")
def test_a_failing_host_delays_no_other_and_gets_one_request_at_a_time() -> None:
    asked: list[str] = []

    def steps(job: Job[Fetch]) -> Steps:
        asked.append(job.row.host)
        yield asyncio.sleep(0)
        job.answers[job.row.host] = "away" if job.row.host == "a.example" and is_away else ""
        if job.answers[job.row.host]:
            raise Failed("away")

    def begin(jobs: Sequence[Job[Fetch]]) -> Iterable[Steps]:
        return map(steps, jobs)

    is_away, work = True, Work(Fetch, begin)
    work.run()
    assert set(Fetch.objects.values_list("host", flat=True)) == {"a.example"}
    assert asked.count("a.example") == 2
    Host.objects.update(retry_at=Now())
    work.run()
    assert asked.count("a.example") == 3
    is_away = False
    Host.objects.update(retry_at=Now())
    Fetch.objects.update(due_at=Now())
    work.run()
    assert not Fetch.objects.exists()
    assert Host.objects.get().failures == 0


def on_terms(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    monkeypatch.setitem(TERMS, "fetches", replace(TERMS["fetches"], **changes))


def posts(*hosts: str) -> list[Fetch]:
    """Return one row for each host."""
    return [Fetch(kind="post", uri=f"{host}/{number}", host=host) for number, host in enumerate(hosts)]


def test_rows_of_a_killed_process_are_run_again() -> None:
    held = Now() + timedelta(hours=1)
    Fetch.objects.create(kind="post", uri="a.example/0", host="a.example", claim=1, claimed_until=held)
    with transaction.atomic():
        publish(FetchesDue())
    # The process that had claimed this row was killed, and another one claims it.
    OutboxRow.objects.filter(queue="fetches").update(claim=1, claimed_until=Now() - timedelta(minutes=1))
    (before,) = OutboxRow.objects.filter(queue="fetches").values_list("id", flat=True)
    drain("fetches")
    (after,) = OutboxRow.objects.filter(queue="fetches").values_list("id", flat=True)
    assert after != before


def test_every_kind_of_work_has_terms_a_queue_and_a_reaction() -> None:
    kinds = [model for model in apps.get_models() if issubclass(model, WaitingRow)]
    assert {model.queue for model in kinds} == TERMS.keys() <= QUEUES.keys()
    for model in kinds:
        assert [subscription.queue for subscription in registry.of(model.due)] == [model.queue]


def test_a_slow_host_does_not_delay_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow host's rows, which are older, run until all rows of the other host are done."""
    on_terms(monkeypatch, at_once=5, per_host=4, claimed=50)
    Fetch.objects.bulk_create(posts(*["slow.example"] * 40, *["quick.example"] * 40))
    done: Counter[str] = Counter()

    async def wait_for_the_others() -> None:
        while done["quick.example"] < 40:
            await asyncio.sleep(0.001)

    def steps(job: Job[Fetch]) -> Steps:
        yield wait_for_the_others() if job.row.host == "slow.example" else asyncio.sleep(0)
        done[job.row.host] += 1

    Work(Fetch, lambda jobs: map(steps, jobs)).run()
    assert done == {"slow.example": 40, "quick.example": 40}


def test_a_run_waiting_for_a_slow_host_claims_rows_until_the_next_run_has_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The run's time for claiming is zero and no other thread is free, but new rows are processed nevertheless."""
    on_terms(monkeypatch, slice_seconds=0.0)
    Fetch.objects.bulk_create(posts("slow.example", "first.example"))
    done: list[str] = []

    async def wait_for_the_late_one() -> None:
        while "late.example" not in done:
            await asyncio.sleep(0.001)

    def steps(job: Job[Fetch]) -> Steps:
        yield wait_for_the_late_one() if job.row.host == "slow.example" else asyncio.sleep(0)
        if job.row.host == "first.example":
            Fetch.objects.bulk_create(posts("late.example"))
        done.append(job.row.host)

    work = Work(Fetch, lambda jobs: map(steps, jobs))
    work.run()
    assert done == ["first.example", "late.example", "slow.example"]
    assert OutboxRow.objects.filter(queue="fetches").exists(), "the next run is scheduled"
    assert not work.claiming


def test_of_two_runs_ending_together_one_continues_to_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """If both stopped claiming, they would wait for slow hosts, and due rows of other hosts would not be processed."""
    both = threading.Barrier(2)

    class Runs(set[Run[Fetch]]):
        def __len__(self) -> int:
            number = super().__len__()
            with suppress(threading.BrokenBarrierError):
                both.wait(1)
            return number

    work = Work(Fetch, lambda jobs: ())
    runs = [Run(work), Run(work)]
    monkeypatch.setattr(work, "claiming", Runs(runs))
    at_once(2, lambda place: work.stop_claiming(runs[place], at_any_rate=False))
    assert len(list(work.claiming)) == 1


def test_deleting_an_object_deletes_its_waiting_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A push service may report that a subscription was deleted: its rows are deleted, even running ones, without an error."""
    on_terms(monkeypatch, at_once=5, per_host=1, claimed=50)
    Fetch.objects.bulk_create(posts(*["push.example"] * 30))
    asked = 0

    def steps(job: Job[Fetch]) -> Steps:
        nonlocal asked
        if not Fetch.objects.filter(id=job.row.pk).exists():
            return
        asked += 1
        yield asyncio.sleep(0)
        job.answers[job.row.host] = ""
        Fetch.objects.filter(host=job.row.host).delete()

    Work(Fetch, lambda jobs: map(steps, jobs)).run()
    assert (asked, Fetch.objects.exists(), Host.objects.exists()) == (1, False, False)


def test_rows_older_than_their_lifetime_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terms(monkeypatch, lifetime=timedelta(hours=48))
    Fetch.objects.bulk_create(posts("a.example", "b.example", "c.example"))
    Fetch.objects.exclude(host="a.example").update(created_at=F("created_at") - timedelta(hours=48))
    Fetch.objects.filter(host="c.example").update(due_at=F("due_at") + timedelta(days=1))
    done: list[str] = []

    def steps(job: Job[Fetch]) -> Steps:
        done.append(job.row.host)
        yield asyncio.sleep(0)

    work = Work(Fetch, lambda jobs: map(steps, jobs))
    work.run()
    assert work.forget_given_up() == 0
    assert done == ["a.example"]
    assert set(Fetch.objects.exclude(dead_at=None).values_list("host", flat=True)) == {"b.example", "c.example"}
    Fetch.objects.update(dead_at=F("dead_at") - TERMS["fetches"].kept)
    assert (work.forget_given_up(), Fetch.objects.exists()) == (2, False)


@pytest.mark.django_db(transaction=True)
def test_row_71_all_processes_together_keep_the_pace_of_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terms(monkeypatch, pace=3600.0, at_once=100, per_host=10, claimed=10)
    Fetch.objects.bulk_create(posts(*["a.example", "b.example"] * 50))

    def claim(_place: int) -> list[str]:
        return [job.row.host for _turn in range(5) for job in Run(FETCHES).claim()]

    claimed = [host for hosts in at_once(6, claim) for host in hosts]
    assert sorted(claimed) == ["a.example", "b.example"]
    Host.objects.filter(name="a.example").update(asked_at=F("asked_at") - timedelta(hours=1))
    assert [host for hosts in at_once(6, claim) for host in hosts] == ["a.example"]


@pytest.mark.django_db(transaction=True)
def test_row_71_only_one_of_two_concurrent_claims_gets_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process finds a different row first, because an older row was added before the second process started."""
    on_terms(monkeypatch, pace=3600.0)
    Host.objects.create(queue="fetches", name="a.example")
    claimed: list[str] = []

    def claim() -> None:
        claimed.extend(job.row.uri for job in Run(FETCHES).claim())
        connection.close()

    threads = []
    with transaction.atomic():
        Host.objects.select_for_update().get()
        for place in range(2):
            row = Fetch(kind="post", uri=str(place), host="a.example", due_at=clock.now() - timedelta(days=place + 1))
            assert at_once(1, lambda _place, row=row: row.save()) == [None]  # type: ignore[misc]  # a default binds the row
            threads.append(threading.Thread(target=claim))
            threads[-1].start()
            until_waiting(place + 1)
    for thread in threads:
        thread.join(30)
    assert len(claimed) == 1


def test_row_71_neither_successes_nor_failures_shorten_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terms(monkeypatch, pace=3600.0, pause=0.0)
    Fetch.objects.bulk_create(posts(*["a.example"] * 9))
    asked = 0

    def steps(job: Job[Fetch]) -> Steps:
        nonlocal asked
        asked += 1
        yield asyncio.sleep(0)
        job.answers[job.row.host] = "away" if asked % 2 else ""
        if asked % 2:
            raise Failed("away")

    for turn in range(1, 5):
        for _run in range(3):
            Work(Fetch, lambda jobs: map(steps, jobs)).run()
            Host.objects.update(retry_at=Now())
        assert asked == turn
        Host.objects.update(asked_at=F("asked_at") - timedelta(hours=1))


def test_hosts_with_a_pace_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terms(monkeypatch, pace=0.05, at_once=1)
    Fetch.objects.bulk_create(posts(*["a.example"] * 5, *["b.example"] * 3))
    Fetch.objects.filter(host="a.example").update(due_at=F("due_at") - timedelta(days=1))
    order: list[str] = []

    def steps(job: Job[Fetch]) -> Steps:
        order.append(job.row.host)
        yield asyncio.sleep(0)

    Work(Fetch, lambda jobs: map(steps, jobs)).run()
    assert "".join(host[0] for host in order) == "abababaa", "one run continues after the pause of each host"


@pytest.mark.parametrize("pace", [0.0, 3600.0])
def test_a_claim_takes_one_statement_for_any_number_of_hosts(monkeypatch: pytest.MonkeyPatch, pace: float) -> None:
    on_terms(monkeypatch, pace=pace, at_once=200)
    for number in (2, 60):
        Fetch.objects.bulk_create(posts(*(f"{place}.of{number}.example" for place in range(number))))
        with CaptureQueriesContext(connection) as queries:
            assert len(Run(FETCHES).claim()) == number
        assert sum("UPDATE" in query["sql"] for query in queries) == 1
        assert len([query for query in queries if "SAVEPOINT" not in query["sql"]]) == 1


def test_waiting_rows_of_a_host_are_limited_with_a_fixed_number_of_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_terms(monkeypatch, waiting=40)
    costs = []
    for host, number in (("a.example", 2), ("b.example", 100)):
        with CaptureQueriesContext(connection) as queries:
            taken = enqueue(*posts(*[host] * number, f"other.{host}"))
        costs.append(len(queries))
        assert Counter(row.host for row in taken) == {host: min(number, 40), f"other.{host}": 1}
    assert costs[0] == costs[1]
    assert enqueue(*posts("b.example")) == []
    assert (Fetch.objects.count(), OutboxRow.objects.count()) == (44, 2)
