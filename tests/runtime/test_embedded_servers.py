"""Tests of the embedded PostgreSQL and Valkey."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.postgres import Postgres
from tests.runtime.processes import (
    ROOT,
    as_root,
    clean_environment,
    descendants,
    eventually,
    fresh_folder,
    is_alive,
    running,
)


@pytest.fixture(scope="module")
def made_once() -> Iterator[Path]:
    folder = fresh_folder()
    with started(folder):
        pass
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def with_cluster(data_dir: Path, made_once: Path) -> Path:
    """A data directory with a copied cluster, because creating one takes a second of processor time."""
    subprocess.run(["cp", "-a", f"{made_once}/.", str(data_dir)], check=True)
    return data_dir


@contextlib.contextmanager
def started(data_dir: Path, durable: bool = False) -> Iterator[Embedded]:
    embedded = Embedded(data_dir, durable=durable)
    embedded.start()
    try:
        yield embedded
    finally:
        embedded.stop()


def script(data_dir: Path, then: str) -> list[str]:
    """Return a command that starts the servers of a data directory and then runs the code `then`."""
    code = f"""
        import os, sys, time
        from pathlib import Path
        from social.runtime.embedded import Embedded
        embedded = Embedded(Path({str(data_dir)!r}), durable=False)
        embedded.start()
        print("pids", *(p.pid for p in embedded.processes.values()), flush=True)
        {then}
        embedded.stop()
    """
    return [sys.executable, "-c", textwrap.dedent(code)]


def test_data_of_embedded_servers_survives_a_restart(with_cluster: Path) -> None:
    with started(with_cluster, durable=True) as embedded:
        with psycopg.connect(embedded.postgres.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (word text)")
            connection.execute("INSERT INTO kept VALUES ('GRÜSSE')")
        with redis.Redis.from_url(embedded.redis_url) as client:
            client.set("kept", "yes")
    with started(with_cluster, durable=True) as embedded:
        with psycopg.connect(embedded.postgres.conninfo()) as connection:
            # The collation supports letters of every script without a locale of the operating system.
            assert connection.execute("SELECT lower(word) FROM kept").fetchone() == ("grüsse",)
        with redis.Redis.from_url(embedded.redis_url) as client:
            assert client.get("kept") == b"yes"


def test_nothing_listens_on_a_port_and_others_cannot_reach_the_sockets(with_cluster: Path) -> None:
    with started(with_cluster) as embedded:
        for process in embedded.processes.values():
            inodes = {os.readlink(fd) for fd in Path(f"/proc/{process.pid}/fd").iterdir()}
            for table in ("tcp", "tcp6"):
                for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                    assert f"socket:[{line.split()[9]}]" not in inodes
        assert embedded.sockets.stat().st_mode & 0o077 == 0


def test_two_data_directories_are_two_installations(with_cluster: Path, made_once: Path) -> None:
    with started(made_once) as one, started(with_cluster) as two:
        with psycopg.connect(one.postgres.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE only_here ()")
        with psycopg.connect(two.postgres.conninfo()) as connection:
            assert connection.execute("SELECT to_regclass('only_here')").fetchone() == (None,)
        with psycopg.connect(one.postgres.conninfo(), autocommit=True) as connection:
            connection.execute("DROP TABLE only_here")


def test_a_killed_starter_leaves_no_server_and_the_next_start_works(with_cluster: Path, tmp_path: Path) -> None:
    with running(
        script(with_cluster, "time.sleep(600)"), tmp_path / "log", {**os.environ, "PYTHONPATH": str(ROOT)}
    ) as starter:
        starter.says("pids", 30)
        below = descendants(starter.pid)
        assert len(below) >= 2
        starter.end(signal.SIGKILL)
        # Start immediately: the previous servers may still be shutting down.
        with started(with_cluster) as embedded:
            assert embedded.answers()
        eventually(lambda: not any(map(is_alive, below)))


def test_an_interrupted_first_start_is_repeated(data_dir: Path) -> None:
    # A kill in the middle of initdb leaves this file, because PG_VERSION is written early.
    unfinished = Embedded(data_dir).postgres.folder / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with started(data_dir) as embedded:
        assert embedded.answers()


@pytest.mark.parametrize(("major", "remedy"), [("16", "upgrade_database"), ("17", "DATABASE_URL")])
def test_another_postgresql_major_is_refused_with_the_remedy(data_dir: Path, major: str, remedy: str) -> None:
    embedded = Embedded(data_dir)
    embedded.postgres.cluster.mkdir(parents=True)
    (embedded.postgres.cluster / "PG_VERSION").write_text(f"{major}\n")
    with pytest.raises(OperatorError, match=rf"made by PostgreSQL {major}, this release brings 18\..*{remedy}"):
        embedded.start()


def test_a_damaged_valkey_file_names_its_remedy(with_cluster: Path) -> None:
    with started(with_cluster, durable=True) as embedded, redis.Redis.from_url(embedded.redis_url) as client:
        client.set("a", "b")
    for file in (with_cluster / "valkey").rglob("*.aof"):
        file.write_bytes(b"*nonsense\r\n" * 3)
    with pytest.raises(OperatorError, match=r"valkey is damaged.*remove"), started(with_cluster, durable=True):
        pass


def test_a_long_path_gets_sockets_elsewhere(data_dir: Path) -> None:
    long = data_dir / ("x" * 50) / ("y" * 50)
    with started(long) as embedded:
        assert len(os.fsencode(embedded.sockets / ".s.PGSQL.5432")) < 100
        assert embedded.answers()
        sockets = embedded.sockets
    shutil.rmtree(sockets)


@as_root
def test_a_socket_folder_of_another_user_is_not_used(data_dir: Path) -> None:
    postgres = Postgres(data_dir / ("x" * 60) / ("y" * 60))
    victim = data_dir / "victim"
    victim.mkdir()
    postgres.sockets.symlink_to(victim)
    try:
        with pytest.raises(OperatorError, match="belongs to another user"):
            postgres.prepare()
        assert victim.stat().st_uid == 0
    finally:
        postgres.sockets.unlink()


@as_root
def test_root_behind_a_closed_home_gets_its_cluster_where_its_user_can_reach_it(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The programs of PostgreSQL are also inside the home directory, which PostgreSQL's user cannot enter.
    monkeypatch.setattr(Postgres, "_may_execute", lambda self, package: False)
    home = data_dir / "home"
    home.mkdir(mode=0o700)
    with started(home / "var") as embedded:
        folder = embedded.postgres.folder
        assert not folder.is_relative_to(home)
        assert (home / "var" / "postgres").readlink() == folder
        assert home.stat().st_mode & 0o777 == 0o700
        assert embedded.postgres.binaries().is_relative_to(folder)
    try:
        # If the home directory becomes readable later, the cluster remains where it is.
        home.chmod(0o755)
        assert Embedded(home / "var").postgres.folder == folder
    finally:
        shutil.rmtree(folder)


@as_root
def test_an_ordinary_user_runs_the_servers_as_that_user(data_dir: Path, tmp_path: Path) -> None:
    somebody = pwd.getpwnam("nobody")
    if not _may_execute(somebody.pw_uid):
        pytest.skip("the virtual environment is closed to other users")
    os.chown(data_dir, somebody.pw_uid, somebody.pw_gid)
    done = subprocess.run(
        script(data_dir, "print('answers', embedded.answers(), 'as', os.getuid())"),
        user=somebody.pw_uid,
        group=somebody.pw_gid,
        extra_groups=[],
        env=clean_environment(PYTHONPATH=str(ROOT), PYTHONDONTWRITEBYTECODE="1"),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert f"answers True as {somebody.pw_uid}" in done.stdout, done.stderr
    assert {path.owner() for path in (data_dir / "postgres").iterdir()} == {"nobody"}


def _may_execute(uid: int) -> bool:
    try:
        done = subprocess.run([sys.executable, "-c", "import social"], user=uid, cwd=ROOT, capture_output=True)
    except PermissionError:
        return False
    return done.returncode == 0


def test_a_folder_with_a_space_and_an_umlaut_works(data_dir: Path) -> None:
    with started(data_dir / "meine Übung, neu") as embedded:
        assert embedded.answers()
        with psycopg.connect(embedded.database_url), redis.Redis.from_url(embedded.redis_url) as client:
            assert client.ping()
        sockets = embedded.sockets
    shutil.rmtree(sockets, ignore_errors=True)
