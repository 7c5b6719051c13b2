"""Tests of the schedule: exactly one of any number of schedulers sends tasks, and another one takes over if it stops."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Any

import pytest
from django.db import connection
from django.db.utils import OperationalError

from social import schedule, tasks
from social import scheduler as scheduling
from social.celery import app
from social.kernel import locks
from social.kernel.outbox import OutboxRow
from social.kernel.subscriptions import registry
from social.queues import QUEUES
from social.scheduler import LeaderScheduler
from tests.support.altered import altered


@pytest.fixture(autouse=True)
def _empty_outbox(effects: None, woken: list[str]) -> Iterator[None]:
    """Delete leases of earlier tests."""
    locks.Lease.objects.all().delete()
    yield
    locks.Lease.objects.all().delete()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that were sent to the broker."""
    names: list[str] = []
    monkeypatch.setattr(scheduling, "send", lambda task, *args, **options: names.append(task))
    return names


def scheduler(seconds: float = 0.0) -> LeaderScheduler:
    """Return a scheduler with a single entry that is due every `seconds`."""
    made = LeaderScheduler(app)
    made.schedule = {}
    made.add(name="sweep", task="sweep", schedule=seconds, options={"queue": "scheduler"})
    return made


def turn(chosen: LeaderScheduler) -> None:
    """Run a few ticks of a scheduler, which checks its lease again."""
    chosen._asked_at = float("-inf")
    for _ in range(3):
        chosen.tick()


def test_only_one_of_several_schedulers_sends_tasks(sent: list[str]) -> None:
    first, second = scheduler(), scheduler()
    turn(first)
    count = len(sent)
    assert count > 0
    turn(second)
    assert len(sent) == count
    assert first.leads
    assert not second.leads


def test_another_scheduler_takes_over_an_expired_lease_and_sends_missed_tasks(sent: list[str]) -> None:
    first, second = scheduler(), scheduler(3600)
    turn(first)
    second.schedule["sweep"].last_run_at = second.schedule["sweep"].last_run_at.replace(year=2020)
    second._heap = None
    turn(second)
    sent.clear()
    locks.Lease.objects.update(until="2020-01-01T00:00:00Z")
    turn(second)
    assert sent == ["sweep"], "the task became due while there was no leader"
    assert second.leads


def test_a_scheduler_that_ends_releases_the_lease(sent: list[str]) -> None:
    first, second = scheduler(), scheduler()
    turn(first)
    first.close()
    turn(second)
    assert second.leads


def test_a_leader_that_cannot_renew_its_lease_stops_before_another_starts(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> bool:
        raise OperationalError("the database is away")

    only = scheduler()
    turn(only)
    monkeypatch.setattr(locks, "acquire", refuse)
    turn(only)
    assert only.leads, "its lease has not expired"
    moment = time.monotonic() + scheduling.LEASE_SECONDS - 0.9
    monkeypatch.setattr(scheduling, "time", altered(time, monotonic=lambda: moment))
    sent.clear()
    turn(only)
    assert not only.leads
    assert sent == []


def test_the_scheduler_logs_tasks_that_a_dead_broker_did_not_accept(
    monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(scheduling, "send", refuse)
    only = scheduler()
    with caplog.at_level("WARNING"):
        turn(only)
    assert "did not take sweep" in caplog.text


def test_the_sweep_wakes_overdue_queues(woken: list[str]) -> None:
    for queue in ("default", "feeds"):
        OutboxRow.objects.create(queue=queue, key="", subscriber="x", event="X", payload={}, attempts=0, last_error="")
    OutboxRow.objects.filter(queue="feeds").update(due_at="2020-01-01T00:00:00Z")
    tasks.sweep_outbox()
    assert woken == ["feeds"]


def test_every_entry_has_a_known_queue_and_expires_within_an_hour() -> None:
    for name, entry in schedule.SCHEDULE.items():
        assert entry["options"]["queue"] in QUEUES, name
        assert entry["options"]["expires"] <= 3600, name


@pytest.mark.parametrize("name", [entry["task"] for entry in schedule.SCHEDULE.values()])
def test_every_entry_names_a_service(name: str) -> None:
    assert callable(resolve_name(name))


def test_every_reaction_is_in_a_queue_that_workers_serve() -> None:
    assert registry.queues() <= set(QUEUES)


def test_a_lease_has_one_holder_at_a_time() -> None:
    assert locks.acquire("x", "a", 30)
    assert locks.acquire("x", "a", 30)
    assert not locks.acquire("x", "b", 30)
    locks.release("x", "b")
    assert not locks.acquire("x", "b", 30)
    locks.release("x", "a")
    assert locks.acquire("x", "b", 0.05)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.1)")
    assert locks.acquire("x", "a", 30)
    assert locks.Lease.objects.get(name="x").holder == "a"


@pytest.mark.parametrize("unplugged", [False, True], ids=["whole", "without federation"])
def test_the_scheduler_sends_the_tasks_of_installed_apps_without_loading_them(unplugged: bool) -> None:
    program = """if True:
        import sys
        from types import SimpleNamespace
        from social.runtime import serve
        beat = SimpleNamespace(run=lambda: None)
        serve._celery = lambda: SimpleNamespace(Beat=lambda **options: beat)
        serve.scheduler()
        import django
        django.setup()
        from social.celery import app
        from social.scheduler import LeaderScheduler
        made = LeaderScheduler(app)
        print(*sorted(made.schedule))
        print(*[name for name in ("accounts", "statuses", "federation", "rest_framework") if name in sys.modules])
    """
    settings = "tests.support.without_federation_server" if unplugged else "social.settings.base"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": settings}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    asked, loaded = ran.stdout.split("\n")[:2]
    known = [name for name, entry in schedule.SCHEDULE.items() if not (unplugged and "federation" in entry["task"])]
    assert asked.split() == sorted(known)
    assert loaded == ""


def test_a_worker_knows_all_scheduled_tasks_of_this_and_earlier_releases() -> None:
    """The check runs in a separate process, because other tests may have imported modules that a worker does not import."""
    program = """if True:
        import django
        django.setup()
        from social.celery import app
        from social.schedule import FORMER_NAMES, SCHEDULE
        app.loader.import_default_modules()
        names = [*FORMER_NAMES, *(entry["task"] for entry in SCHEDULE.values())]
        print(*[name for name in names if not callable(app.tasks.get(name))])
    """
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "social.settings.base"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "\n"
