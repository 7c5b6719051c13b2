"""Tests of upgrading the data of a previous major version of the embedded PostgreSQL: nothing is lost."""

import json
import lzma
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from social.runtime.postgres import FORMER_MAJORS, MAJOR, Postgres
from social.runtime.upgrading import _Server
from tests.runtime.processes import ROOT, clean_environment, free_ports, fresh_folder, manage
from tests.upgrades.dump import DOMAIN, DUMPS

NAME = "6575526"
FORMER = "16"
pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def made_before() -> Iterator[Path]:
    """A data directory whose cluster was created by the programs of the previous version, and then used by a server."""
    folder = fresh_folder()
    postgres = Postgres(folder, durable=False, install=FORMER_MAJORS[FORMER])
    postgres.prepare_folders()
    initdb = [str(postgres.binaries() / "initdb"), "-D", str(postgres.cluster), "-U", "social", "--auth=trust"]
    subprocess.run(
        [*initdb, "--encoding=UTF8", "--locale=C"], check=True, capture_output=True, cwd="/", **postgres.owner.popen()
    )
    server = _Server(postgres)
    server.start()
    with psycopg.connect(postgres.conninfo()) as connection:
        connection.execute(lzma.decompress((DUMPS / f"{NAME}.sql.xz").read_bytes()))
    server.stop()
    (folder / "secrets.json").write_text(json.dumps(json.loads((DUMPS / f"{NAME}.json").read_text())["secrets"]))
    (folder / "secrets.json").chmod(0o600)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def environment(made_before: Path) -> Iterator[dict[str, str]]:
    folder = fresh_folder()
    subprocess.run(["cp", "-a", f"{made_before}/.", str(folder)], check=True)
    yield clean_environment(DATA_DIR=str(folder), LOCAL_DOMAIN=DOMAIN, **free_ports())
    shutil.rmtree(folder)


def goes_on(environment: dict[str, str]) -> bool:
    """Return whether the server starts, has its accounts, and uses the collation of a new cluster."""
    done = manage("setup", environment=environment)
    assert done.returncode == 0, done.stderr
    again = manage("create_account", "alice", "--email", "alice@example.com", environment=environment)
    server = _Server(Postgres(Path(environment["DATA_DIR"])))
    server.start()
    with psycopg.connect(server.postgres.conninfo()) as connection:
        lower = connection.execute("SELECT lower('GRÜSSE')").fetchone()
    server.stop()
    return "exists already" in again.stderr and lower == ("grüsse",)


def test_a_start_names_the_remedy_and_the_remedy_works(environment: dict[str, str]) -> None:
    folder = Path(environment["DATA_DIR"])
    for word in ("run", "setup", "doctor"):
        refused = manage(word, environment=environment)
        assert (refused.returncode, "upgrade_database" in refused.stderr) == (1, True), refused.stderr
    tried = manage("upgrade_database", "--dry-run", environment=environment)
    assert f"would be brought to {MAJOR}" in tried.stdout
    done = manage("upgrade_database", environment=environment)
    assert done.returncode == 0, done.stderr
    assert goes_on(environment)
    kept = folder / "postgres" / f"data.{FORMER}"
    assert (kept / "PG_VERSION").read_text().strip() == FORMER
    assert f"PostgreSQL {MAJOR} already" in manage("upgrade_database", environment=environment).stdout
    manage("upgrade_database", "--remove-old", environment=environment)
    assert not kept.exists()
    assert goes_on(environment)


_KILLED = """
import os, signal, sys
from social.runtime import manage, upgrading

def end(*_arguments, **_terms):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "load":
    upgrading.load = end
else:
    complete = upgrading._complete_switch
    upgrading._complete_switch = lambda postgres: end() if not postgres.cluster.exists() else complete(postgres)
sys.exit(manage.main(["manage.py", "upgrade_database"]))
"""


@pytest.mark.parametrize("point", ["load", "switch"])
def test_a_killed_upgrade_can_be_repeated(environment: dict[str, str], point: str) -> None:
    command = [sys.executable, "-c", _KILLED, point]
    killed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    refused = manage("run", environment=environment)
    assert (refused.returncode, "upgrade_database" in refused.stderr) == (1, True), refused.stderr
    done = manage("upgrade_database", environment=environment)
    assert done.returncode == 0, done.stderr
    assert goes_on(environment)
