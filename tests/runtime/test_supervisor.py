"""Tests of the supervisor with simple child processes."""

import inspect
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from social.runtime.console import Console
from social.runtime.supervisor import Supervisor, restart_delay
from tests.runtime.processes import PATIENCE, Running, descendants, eventually, is_alive, running

QUIET = "import os, time; print('pid', os.getpid()); time.sleep(600)"
STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('pid', os.getpid()); time.sleep(600)"
)
# A program that starts a process and ends without waiting for it, like a crashing web server that leaves workers behind.
LEAVES_ONE = (
    "import os, subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print('left', p.pid); time.sleep(1); os._exit(3)"
)
BEATS = (
    "import os, time; from social.kernel.liveness import tell_supervisor; print('pid', os.getpid())\n"
    "while True:\n tell_supervisor(); print('beat'); time.sleep(0.2)"
)
# A program whose main loop waits forever, while its other threads keep running.
DEADLOCKS = (
    "import os, threading; from social.kernel.liveness import tell_supervisor; tell_supervisor()\n"
    "print('pid', os.getpid()); lock = threading.Lock(); lock.acquire(); lock.acquire()"
)
Start = Callable[..., AbstractContextManager[Running]]


@pytest.fixture
def supervise(tmp_path: Path) -> Start:
    def start(*options: str, **children: str) -> AbstractContextManager[Running]:
        command = [sys.executable, "-m", "tests.runtime.driver", json.dumps(list(children.items())), *options]
        return running(command, tmp_path / "output")

    return start


def pids(process: Running, name: str, word: str = "pid") -> list[int]:
    """Return the process ids that a child has printed, in order."""
    return [int(found) for found in re.findall(rf"^{name} +\| {word} (\d+)$", process.text(), re.MULTILINE)]


def beats(process: Running, name: str) -> int:
    """Return how many heartbeats a child has printed."""
    return len(re.findall(rf"^{name} +\| beat$", process.text(), re.MULTILINE))


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_every_child(supervise: Start, signum: int) -> None:
    with supervise(one=QUIET, two=QUIET) as process:
        below = eventually(lambda: pids(process, "one") and pids(process, "two") and descendants(process.pid))
        assert len(below) == 2
        assert process.end(signum) == set()
        assert process.process.returncode == 0
        assert not any(map(is_alive, below))


def test_a_reload_restarts_our_own_programs_and_leaves_the_others_running(supervise: Start) -> None:
    with supervise(ours=QUIET, data=QUIET) as process:
        eventually(lambda: pids(process, "ours") and pids(process, "data"))
        process.process.send_signal(signal.SIGHUP)
        eventually(lambda: len(pids(process, "ours")) == 2)
        assert len(pids(process, "data")) == 1
        assert process.end() == set()


def test_closing_the_terminal_stops_everything(tmp_path: Path) -> None:
    master, slave = os.openpty()
    command = [sys.executable, "-m", "tests.runtime.driver", json.dumps([["ours", QUIET]])]
    with running(command, tmp_path / "output", stdin=slave) as process:
        eventually(lambda: pids(process, "ours"))
        process.end(signal.SIGHUP)
        assert process.process.returncode == 0
    for end in (master, slave):
        os.close(end)


@pytest.mark.verify
def test_a_child_that_ignores_the_signal_is_killed(supervise: Start) -> None:
    with supervise(one=STUBBORN, two=QUIET) as process:
        below = eventually(lambda: pids(process, "one") and pids(process, "two") and descendants(process.pid))
        assert process.end() == {"one"}
        assert not any(map(is_alive, below))


def test_stopping_takes_less_than_ten_seconds_whatever_the_children_do() -> None:
    terms = inspect.signature(Supervisor.stop).parameters
    assert terms["grace"].default + terms["last_grace"].default < 10


def test_a_second_signal_kills_what_has_not_ended(supervise: Start) -> None:
    with supervise("--grace", str(100 * PATIENCE), one=STUBBORN, two=QUIET) as process:
        eventually(lambda: pids(process, "one") and pids(process, "two"))
        process.process.send_signal(signal.SIGINT)
        eventually(lambda: not is_alive(pids(process, "two")[0]))
        assert process.end(signal.SIGINT) == {"one"}


def test_a_killed_supervisor_leaves_no_orphan(supervise: Start) -> None:
    with supervise(one=QUIET, two=STUBBORN) as process:
        below = eventually(lambda: pids(process, "one") and pids(process, "two") and descendants(process.pid))
        process.end(signal.SIGKILL)
        eventually(lambda: not any(map(is_alive, below)))


def test_a_killed_child_is_started_again(supervise: Start) -> None:
    with supervise(one=QUIET, two=QUIET) as process:
        (first,) = eventually(lambda: pids(process, "one"))
        (other,) = eventually(lambda: pids(process, "two"))
        os.kill(first, signal.SIGKILL)
        eventually(lambda: len(pids(process, "one")) == 2)
        assert "run       | one was ended by SIGKILL; it starts again in 0.5 s." in process.text()
        assert pids(process, "two") == [other]
        assert is_alive(other)


@pytest.mark.verify
def test_a_child_without_heartbeats_is_replaced_and_one_with_heartbeats_is_not(supervise: Start) -> None:
    with supervise(beating=BEATS, beating2=BEATS) as process:
        (first,) = eventually(lambda: pids(process, "beating"))
        (other,) = eventually(lambda: pids(process, "beating2"))
        eventually(lambda: beats(process, "beating") > 1)
        os.kill(first, signal.SIGSTOP)
        eventually(lambda: len(pids(process, "beating")) == 2)
        assert "beating gives no sign of life and is killed." in process.text()
        assert not is_alive(first)
        known = beats(process, "beating2")
        eventually(lambda: beats(process, "beating2") > known + 10)
        assert pids(process, "beating2") == [other]


@pytest.mark.verify
def test_a_deadlocked_child_is_replaced(supervise: Start) -> None:
    with supervise(beating=DEADLOCKS) as process:
        eventually(lambda: len(pids(process, "beating")) == 2)


@pytest.mark.verify
def test_what_a_crashed_child_left_behind_is_killed_before_it_starts_again(supervise: Start) -> None:
    with supervise(one=LEAVES_ONE) as process:
        left = eventually(lambda: pids(process, "one", "left"))[0]
        process.says("one ended with code 3; it starts again in 0.5 s.")
        eventually(lambda: len(pids(process, "one", "left")) == 2)
        assert not is_alive(left)


@pytest.mark.verify
def test_a_child_that_keeps_failing_is_restarted_less_and_less_often(supervise: Start) -> None:
    with supervise(one="raise SystemExit('no')") as process:
        text = process.says("it starts again in 2 s.")
    assert re.findall(r"again in (\S+) s", text) == ["0.5", "1", "2"]
    assert text.count("one       | no") == 3


def test_delays_double_to_half_a_minute() -> None:
    assert [restart_delay(failures) for failures in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert restart_delay(10_000) == 30


@pytest.mark.verify
def test_a_reader_that_stops_reading_stops_nothing(supervise: Start, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    talk = f"import os\nfor n in range(10**9):\n print('x' * 1000)\n open({str(counts)!r}, 'w').write(str(n))"
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.execv(sys.executable, [sys.executable, "-m", "tests.runtime.driver", json.dumps([["one", talk]])])
    try:
        os.close(write)
        # A pipe holds 64 KB and the console's buffer a megabyte: the child has written more, although nobody reads the output.
        eventually(lambda: counts.exists() and int(counts.read_text() or 0) > 3000)
        os.kill(pid, signal.SIGTERM)
        eventually(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
    finally:
        os.close(read)


def test_every_line_carries_the_name_of_its_process() -> None:
    lines = written(lambda console: [console.line("web", "one"), console.line("postgres", "two")])
    assert lines == ["web       | one", "postgres  | two"]


def test_colours_only_on_a_terminal() -> None:
    assert "\033" not in written(lambda console: console.line("web", "one"))[0]
    assert written(lambda console: console.line("web", "one"), colour=True) == ["\033[36mweb       | \033[0mone"]


def test_json_logs_are_json_for_every_process() -> None:
    def speak(console: Console) -> None:
        console.line("web", '{"event":"hello","level":"info"}')
        console.line("postgres", 'FATAL:  role "x" does not exist')
        console.say("Social is ready")

    lines = [json.loads(line) for line in written(speak, as_json=True)]
    assert lines == [
        {"process": "web", "event": "hello", "level": "info"},
        {"process": "postgres", "event": 'FATAL:  role "x" does not exist'},
        {"process": "run", "event": "Social is ready"},
    ]


def test_a_token_in_any_process_output_is_redacted() -> None:
    lines = written(lambda console: console.line("web", "GET /api/v1/streaming?access_token=abcDEF123&stream=user"))
    assert lines == ["web       | GET /api/v1/streaming?access_token=[redacted]&stream=user"]


def written(speak: Callable[[Console], object], *, colour: bool = False, as_json: bool = False) -> list[str]:
    """Return the lines that a console writes."""
    read, write = os.pipe()
    console = Console(write, colour=colour, as_json=as_json)
    speak(console)
    console.finish()
    os.close(write)
    with os.fdopen(read) as file:
        return file.read().splitlines()


def test_a_wait_for_a_child_that_cannot_start_ends_with_its_last_output() -> None:
    from social.runtime.failures import OperatorError
    from social.runtime.processes import ProcessSpec

    spec = ProcessSpec("one", (sys.executable, "-c", "raise SystemExit('there is no room')"), ready=lambda: False)
    console = Console(os.open(os.devnull, os.O_WRONLY), colour=False)
    supervisor = Supervisor(console)
    supervisor.start(spec)
    with pytest.raises(OperatorError, match="one could not be started: there is no room"):
        supervisor.wait_until_ready(["one"], 10)
    supervisor.stop()
    os.close(console.fd)
