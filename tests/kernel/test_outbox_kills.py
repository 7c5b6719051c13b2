"""Tests of `kill -9`, FLUSHALL and dead servers: no event is lost, and a database effect happens exactly once."""

import random
import signal
import subprocess
import time
from typing import Any

import pytest
from django.db import connection

from social.kernel import redis
from social.kernel.outbox import OutboxRow, drain, overdue_queues, wake
from tests.kernel import drain_process, reactions
from tests.kernel.reactions import Happened, Listen, commit

pytestmark = pytest.mark.usefixtures("effects", "woken")


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    """Wait until the process has printed the line."""
    assert process.stdout is not None
    for found in process.stdout:
        if found.strip() == line:
            return
    raise AssertionError(f"The process ended without saying {line!r}.")


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the process with SIGKILL, and wait until it has ended."""
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def drain_until_empty(seconds: float, **terms: Any) -> None:
    deadline = time.monotonic() + seconds
    while OutboxRow.objects.exists():
        assert time.monotonic() < deadline, list(OutboxRow.objects.values())[:3]
        if not drain("default", **terms):
            time.sleep(0.05)


@pytest.mark.verify
def test_a_drain_killed_during_a_batch_loses_and_repeats_nothing(listen: Listen) -> None:
    listen(Happened, reactions.write_and_hang, database=True)
    commit(*(Happened(n % 5, n) for n in range(40)))
    process = drain_process.start("write_and_hang", database=True, lease=1.0)
    try:
        wait_for(process, "in hand")
    finally:
        kill(process)
    assert reactions.effects() == [], "effects that were not committed are undone"
    listen(Happened, reactions.write, database=True)
    OutboxRow.objects.update(subscriber="tests.kernel.reactions.write")
    drain_until_empty(20)
    assert {thing: reactions.effects(f"thing:{thing}") for thing in range(5)} == {
        thing: list(range(thing, 40, 5)) for thing in range(5)
    }


@pytest.mark.verify
def test_a_row_that_kills_its_process_blocks_only_its_key_and_is_eventually_given_up(listen: Listen) -> None:
    subscription = listen(Happened, reactions.die, database=True)
    commit(*(Happened(n, n) for n in range(8, 18)))
    process = drain_process.start("die", database=True, lease=0.5)
    wait_for(process, "ready")
    assert process.wait(20) == -signal.SIGKILL, "the first batch contains the row that kills the process"
    assert reactions.effects() == []
    for _ in range(2):
        process = drain_process.start("die", database=True, lease=0.5)
        process.wait(20)
    # The other events were then processed one by one; attempts for the crashing event are counted although the process died.
    assert sorted(reactions.effects()) == [n for n in range(8, 18) if n != 13]
    row = OutboxRow.objects.get()
    assert row.payload["number"] == 13
    assert row.attempts >= 1
    assert "process ended" in row.last_error
    with connection.cursor() as cursor:
        cursor.execute("UPDATE social_outbox SET attempts = 12, due_at = now(), claimed_until = now() - interval '1 s'")
    drain("default")
    row.refresh_from_db()
    assert row.dead_at is not None
    assert row.subscriber == subscription.subscriber


def test_no_event_is_lost_if_redis_is_emptied_between_commit_and_drain(listen: Listen, woken: list[str]) -> None:
    listen(Happened, reactions.write, database=True)
    commit(Happened(1, 1))
    redis.client("broker").flushdb()
    OutboxRow.objects.update(due_at="2020-01-01T00:00:00Z")
    woken.clear()
    for queue in overdue_queues():
        wake(queue)
    assert woken == ["default"]
    drain("default")
    assert reactions.effects() == [1]


@pytest.mark.verify
def test_drains_killed_at_random_leave_exactly_one_effect_per_event_in_order(listen: Listen) -> None:
    listen(Happened, reactions.write_slowly, database=True)
    chance = random.Random(3)
    expected: dict[int, list[int]] = {}
    for number in range(3000):
        expected.setdefault(chance.randrange(100), []).append(number)
    order = sorted((number, thing) for thing, numbers in expected.items() for number in numbers)
    for first in range(0, len(order), 100):
        commit(*(Happened(thing, number) for number, thing in order[first : first + 100]))
    living = [drain_process.start("write_slowly", database=True, lease=1.5) for _ in range(3)]
    kills = 0
    try:
        deadline = time.monotonic() + 90
        while OutboxRow.objects.exists():
            assert time.monotonic() < deadline, OutboxRow.objects.count()
            time.sleep(chance.uniform(0.3, 1.2))
            victim = chance.randrange(3)
            wait_for(living[victim], "ready")
            time.sleep(chance.uniform(0, 0.2))
            kill(living[victim])
            kills += 1
            living[victim] = drain_process.start("write_slowly", database=True, lease=1.5)
    finally:
        for process in living:
            kill(process)
    assert kills >= 3
    assert {thing: reactions.effects(f"thing:{thing}") for thing in expected} == expected
