"""Tests of commands and the supervisor that use the servers of one data directory at the same time."""

import shutil
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from social.runtime.datadir import sole_supervisor
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from tests.runtime.processes import ROOT, Running, clean_environment, fresh_folder, running


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    folder = fresh_folder()
    (folder / "run").mkdir()
    yield folder
    shutil.rmtree(folder)


def command(data_dir: Path, until: Path) -> list[str]:
    """Return a command that uses the servers until a file appears."""
    code = f"""
        import time
        from pathlib import Path
        from social.runtime.embedded import Embedded
        from social.runtime.embedded import borrowed_servers
        with borrowed_servers(Embedded(Path({str(data_dir)!r}))) as servers:
            print("started" if servers.processes else "found", flush=True)
            while not Path({str(until)!r}).exists():
                assert servers.answers()
                time.sleep(0.02)
        print("done", flush=True)
    """
    return [sys.executable, "-c", textwrap.dedent(code)]


def ended(process: Running) -> str:
    process.process.wait(20)
    assert process.process.returncode == 0, process.text()
    return process.text()


def test_the_command_that_started_the_servers_waits_for_the_others_that_use_them(
    data_dir: Path, tmp_path: Path
) -> None:
    environment = clean_environment(PYTHONPATH=str(ROOT))
    first, second = tmp_path / "first", tmp_path / "second"
    with running(command(data_dir, first), tmp_path / "log1", environment) as starter:
        starter.says("started", 30)
        with running(command(data_dir, second), tmp_path / "log2", environment) as finder:
            finder.says("found")
            first.touch()
            starter.says("Another command still uses the servers")
            assert Embedded(data_dir).answers()
            second.touch()
            assert "done" in ended(finder)
        assert "done" in ended(starter)
    assert not Embedded(data_dir).answers()


def test_many_commands_can_run_at_the_same_time(data_dir: Path, tmp_path: Path) -> None:
    environment = clean_environment(PYTHONPATH=str(ROOT))
    stop = tmp_path / "stop"
    stop.touch()
    every = [Running(command(data_dir, stop), tmp_path / f"log{n}", environment) for n in range(5)]
    texts = [ended(process) for process in every]
    assert all("done" in text for text in texts)
    assert any("started" in text for text in texts)


def test_after_a_killed_command_the_next_command_can_start_the_servers(data_dir: Path, tmp_path: Path) -> None:
    environment = clean_environment(PYTHONPATH=str(ROOT))
    stop = tmp_path / "stop"
    with running(command(data_dir, stop), tmp_path / "log1", environment) as killed:
        killed.says("started", 30)
        killed.end(signal.SIGKILL)
    stop.touch()
    with running(command(data_dir, stop), tmp_path / "log2", environment) as following:
        assert "started" in ended(following)


def test_a_second_supervisor_of_a_data_directory_is_refused(data_dir: Path) -> None:
    refused = pytest.raises(OperatorError, match=r"already run by process \d+\..*DATA_DIR")
    with sole_supervisor(data_dir), refused, sole_supervisor(data_dir):
        pass
    with sole_supervisor(data_dir):
        pass
