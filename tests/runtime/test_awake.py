"""Tests of the detection of hanging processes, which must not count the time during which the supervisor itself was stopped."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from social.runtime import processes
from social.runtime.console import Console
from social.runtime.processes import ProcessSpec
from social.runtime.supervisor import Supervisor
from tests.runtime.processes import eventually
from tests.runtime.test_supervisor import BEATS


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


def test_a_pause_of_the_supervisor_counts_as_one_step(clock: Clock) -> None:
    watcher = processes.AwakeTime()
    clock.ahead += 3600
    assert watcher.look() == processes.LOOK_SECONDS
    clock.ahead += 0.25
    assert processes.LOOK_SECONDS + 0.25 <= watcher.look() < 2 * processes.LOOK_SECONDS + 0.25


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    found = Supervisor(Console(colour=False))
    found.start(ProcessSpec("beating", (sys.executable, "-u", "-c", BEATS), silence=30.0))
    yield found
    found.stop()


@pytest.mark.verify
def test_after_a_pause_of_the_machine_no_child_is_killed(supervisor: Supervisor, clock: Clock) -> None:
    child = supervisor.children["beating"]
    assert child.process is not None

    def beats_again() -> bool:
        supervisor.turn(0.1)
        return child.has_shown_life

    eventually(beats_again)
    first = child.process.pid
    os.kill(first, signal.SIGSTOP)
    clock.ahead += 3600
    for _ in range(5):
        supervisor.turn(0)
    assert child.process.returncode is None
    os.kill(first, signal.SIGCONT)
    child.has_shown_life = False
    eventually(beats_again)
    assert child.process.pid == first
    # A process that sends no heartbeat while the supervisor runs is replaced.
    os.kill(first, signal.SIGSTOP)

    def is_replaced() -> bool:
        clock.ahead += 1
        supervisor.turn(0.01)
        return child.process is not None and child.process.pid != first

    eventually(is_replaced)
