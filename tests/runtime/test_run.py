"""Tests of `manage.py run` with its real processes: starting, killing each, running two servers side by side, and stopping."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.runtime.processes import (
    PATIENCE,
    Running,
    clean_environment,
    descendants,
    eventually,
    free_ports,
    fresh_folder,
    is_alive,
    manage,
    running,
)

pytestmark = pytest.mark.verify
KINDS = ("postgres", "valkey", "web", "streaming", "worker", "scheduler")


@pytest.fixture(scope="module")
def installation() -> Iterator[dict[str, str]]:
    """The environment of an installation whose setup is done, so that starts are fast."""
    folder = fresh_folder()
    environment = clean_environment(DATA_DIR=str(folder), LOCAL_DOMAIN="social.localhost", **free_ports())
    done = manage("setup", environment=environment)
    assert done.returncode == 0, done.stderr
    yield environment
    shutil.rmtree(folder)


@contextmanager
def up(environment: dict[str, str], log: Path, seconds: float = 2 * PATIENCE) -> Iterator[Running]:
    with running([sys.executable, "manage.py", "run"], log, environment) as process:
        process.says("Social is ready at", seconds)
        yield process


def get(environment: dict[str, str], path: str = "/health", port: str = "PORT") -> int | None:
    connection = http.client.HTTPConnection("127.0.0.1", int(environment[port]), timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def child(process: Running, kind: str) -> int | None:
    """Return the process id of the supervisor's direct child of this kind, or None."""
    mark = {"postgres": "bin/postgres", "valkey": "valkey-server"}.get(kind, f"social.runtime.serve\0{kind}\0")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process.pid and mark in (folder / "cmdline").read_text():
                return int(folder.name)
        except (OSError, ValueError):
            continue
    return None


def doctor(environment: dict[str, str]) -> dict[str, str]:
    answer = json.loads(manage("doctor", "--json", environment=environment).stdout)
    return {check["name"]: check["state"] for check in answer["checks"]}


def all_well(environment: dict[str, str]) -> bool:
    return set(doctor(environment).values()) == {"ok"}


def test_a_warm_start_prepares_nothing_again(installation: dict[str, str], tmp_path: Path) -> None:
    """The benchmarks measure how long a start takes."""
    with up(installation, tmp_path / "log") as process:
        assert get(installation) == 200
        process.end()
        assert "Preparing the database" not in process.text()


def test_all_processes_run_and_the_doctor_reports_no_faults(installation: dict[str, str], tmp_path: Path) -> None:
    with up(installation, tmp_path / "log") as process:
        assert all(child(process, kind) for kind in KINDS)
        eventually(lambda: all_well(installation))
        assert get(installation, "/health/ready") == 200
        assert get(installation, "/api/v1/streaming/health", "STREAMING_PORT") == 200
        assert get(installation, "/metrics") == 200


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything(installation: dict[str, str], tmp_path: Path, signum: int) -> None:
    with up(installation, tmp_path / "log") as process:
        below = descendants(process.pid)
        assert process.end(signum) == set()
        assert process.process.returncode == 0
        assert not any(map(is_alive, below))


def test_a_signal_during_the_start_stops_everything_too(installation: dict[str, str], tmp_path: Path) -> None:
    for kind in (None, *KINDS):
        with running([sys.executable, "manage.py", "run"], tmp_path / "log", installation) as process:
            eventually(lambda kind=kind, process=process: kind is None or child(process, kind))
            below = descendants(process.pid)
            process.end()
            eventually(lambda below=below: not any(map(is_alive, below)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_process_is_restarted_and_the_others_continue(
    installation: dict[str, str], tmp_path: Path, kind: str
) -> None:
    with up(installation, tmp_path / "log") as process:
        eventually(lambda: all(child(process, name) for name in KINDS))
        before = {name: child(process, name) for name in KINDS}
        killed = before[kind]
        assert killed is not None
        below = descendants(killed)
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: child(process, kind) not in (None, killed))
        eventually(lambda: all_well(installation))
        assert not any(map(is_alive, below))
        assert {name: child(process, name) for name in KINDS if name != kind} == {
            name: pid for name, pid in before.items() if name != kind
        }
        process.end()


def test_a_killed_web_worker_is_replaced_while_the_other_answers(installation: dict[str, str], tmp_path: Path) -> None:
    with up(installation, tmp_path / "log") as process:
        web = child(process, "web")
        assert web is not None
        workers = eventually(lambda: len(found := descendants(web)) == 2 and found)
        assert isinstance(workers, set)
        killed = workers.pop()
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: not is_alive(killed))
        answers = [get(installation) for _ in range(20)]
        assert answers.count(200) == 20
        eventually(lambda: len(descendants(web)) == 2)
        assert child(process, "web") == web


def test_a_killed_supervisor_leaves_nothing_and_the_next_start_works(
    installation: dict[str, str], tmp_path: Path
) -> None:
    with up(installation, tmp_path / "log1") as process:
        below = descendants(process.pid)
        assert len(below) > len(KINDS)
        process.end(signal.SIGKILL)
        # The next supervisor starts immediately, while PostgreSQL may still be shutting down.
        with up(installation, tmp_path / "log2") as following:
            assert not any(map(is_alive, below))
            eventually(lambda: all_well(installation))
            following.end()


def test_the_server_continues_after_redis_loses_all_data(installation: dict[str, str], tmp_path: Path) -> None:
    with up(installation, tmp_path / "log") as process:
        code = "from social.kernel import redis; redis.client('cache').flushall()"
        assert manage("shell", "-c", code, environment=installation).returncode == 0
        eventually(lambda: all_well(installation))
        assert process.process.poll() is None


def test_two_installations_run_side_by_side(installation: dict[str, str], tmp_path: Path) -> None:
    folder = fresh_folder()
    second = clean_environment(DATA_DIR=str(folder), LOCAL_DOMAIN="second.localhost", **free_ports())
    try:
        with up(installation, tmp_path / "log1"), up(second, tmp_path / "log2"):
            for environment in (installation, second):
                eventually(lambda environment=environment: all_well(environment))
    finally:
        shutil.rmtree(folder)


def test_a_second_supervisor_of_the_same_data_directory_is_refused(
    installation: dict[str, str], tmp_path: Path
) -> None:
    with up(installation, tmp_path / "log") as process:
        done = manage("run", environment=installation | free_ports())
        assert done.returncode == 1
        assert f"is already run by process {process.pid}." in done.stderr
        assert get(installation) == 200


def test_a_command_finds_the_running_servers(installation: dict[str, str], tmp_path: Path) -> None:
    with up(installation, tmp_path / "log"):
        done = manage("showmigrations", "--plan", environment=installation)
        assert done.returncode == 0
        assert "[X]  social.0001_initial" in done.stdout


def test_another_port_does_not_change_the_domain_of_the_first_start(tmp_path: Path) -> None:
    folder = fresh_folder()
    try:
        environment = clean_environment(DATA_DIR=str(folder), **free_ports())
        assert manage("setup", environment=environment).returncode == 0
        moved = environment | free_ports()
        with up(moved, tmp_path / "log") as process:
            assert f"Social is ready at http://localhost:{moved['PORT']}" in process.text()
            assert f"stay as at the first start: @name@localhost:{environment['PORT']}" in process.text()
            assert get(moved, "/api/v2/instance") == 200
            made = manage(
                "create_account",
                "alice",
                "--email",
                "alice@example.com",
                *("--role", "Owner"),
                environment=clean_environment(DATA_DIR=str(folder)),
            )
            assert made.returncode == 0, made.stderr
            assert get(moved, "/@alice") == 200
            assert "Make yourself its owner" in process.text()
        with up(moved, tmp_path / "second log") as process:
            assert "Make yourself its owner" not in process.text()
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_full_disk_stops_nothing_else_and_writes_succeed_again_when_there_is_space(tmp_path: Path) -> None:
    folder = fresh_folder()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m,mode=755", "tmpfs", str(folder)]).returncode:
        pytest.skip("cannot mount a small disk here")
    try:
        environment = clean_environment(DATA_DIR=str(folder), LOCAL_DOMAIN="disk.localhost", **free_ports())
        with up(environment, tmp_path / "log") as process:
            filler = folder / "filler"
            subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=1M"], capture_output=True)
            assert [get(environment) for _ in range(50)] == [200] * 50
            assert process.process.poll() is None
            refused = doctor(environment)
            assert refused["disk"] == "failed"
            filler.unlink()
            eventually(lambda: get(environment, "/health/ready") == 200)
            process.end()
        subprocess.run(["dd", "if=/dev/zero", f"of={folder / 'filler'}", "bs=1M"], capture_output=True)
        done = manage("run", environment=environment)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "is full" in done.stderr
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        folder.rmdir()


def test_a_reload_replaces_every_process_and_no_request_fails(installation: dict[str, str], tmp_path: Path) -> None:
    with up(installation | {"RATE_LIMITS": "off"}, tmp_path / "log") as process:
        web = eventually(lambda: child(process, "web"))
        others = {kind: child(process, kind) for kind in ("streaming", "worker", "scheduler")}
        served = {kind: child(process, kind) for kind in ("postgres", "valkey")}
        before = eventually(lambda: len(found := descendants(web)) == 2 and found)
        answers: Counter[object] = Counter()
        done = threading.Event()
        clients = [
            threading.Thread(target=ask_on, args=(installation, kept, answers, done)) for kept in (True, False) * 2
        ]
        for client in clients:
            client.start()

        # Without valid secrets no new web process can start, so the old ones keep running.
        secrets = Path(installation["DATA_DIR"]) / "secrets.json"
        kept = secrets.read_text()
        secrets.write_text("{")
        os.kill(web, signal.SIGHUP)
        process.says("the web processes go on as they are")
        secrets.write_text(kept)
        assert descendants(web) == before

        process.process.send_signal(signal.SIGHUP)
        eventually(lambda: len(found := descendants(web)) == 2 and not found & before)
        done.set()
        for client in clients:
            client.join()
        assert child(process, "web") == web
        assert set(answers) == {200}, answers
        assert answers[200] > 100
        for kind, former in others.items():
            eventually(lambda kind=kind, former=former: child(process, kind) not in (None, former))
        assert {kind: child(process, kind) for kind in served} == served
        eventually(lambda: all_well(installation))
        assert process.end() == set()


def ask_on(environment: dict[str, str], kept: bool, answers: Counter[object], done: threading.Event) -> None:
    """Send requests continuously, on one persistent connection if `kept` and otherwise on new ones, and count the responses."""
    address = f"http://127.0.0.1:{environment['PORT']}/api/v1/instance"
    headers = {"Host": environment["LOCAL_DOMAIN"], "Connection": "keep-alive" if kept else "close"}
    with requests.Session() as session:
        while not done.is_set():
            try:
                answers[session.get(address, headers=headers, timeout=60).status_code] += 1
            except requests.RequestException as error:
                answers[repr(error)] += 1
