"""Tests that commands create ids with the server's stored domain, whatever their environment says."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from social.runtime.datadir import sole_supervisor
from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import ROOT, clean_environment, manage, python, refusal

ADDRESSES = ["shell", "-c", "from django.conf import settings as s; print(s.LOCAL_DOMAIN, s.BASE_URL)"]


@dataclass
class Machine:
    """A machine with an external database; nothing but the address of the database is configured."""

    address: str
    data_dir: Path
    settings: dict[str, str] = field(default_factory=dict)

    def store(self, web_domain: str | None = None) -> None:
        """Store the domain, as the end of a first start does."""
        with psycopg.connect(self.address, autocommit=True) as database:
            database.execute(
                "CREATE TABLE social_installation (id int, local_domain text, web_domain text, fingerprints jsonb)"
            )
            database.execute("INSERT INTO social_installation VALUES (1, 'social.example', %s, '{}')", [web_domain])

    def environment(self, **more: str) -> dict[str, str]:
        return clean_environment(
            DATA_DIR=str(self.data_dir), DATABASE_URL=self.address, REDIS_URL=os.environ["REDIS_URL"], **more
        )

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return manage(*command, environment=self.environment(**more))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    base = os.environ["DATABASE_URL"].rpartition("/")[0]
    (tmp_path / "run").mkdir()
    generate_secrets(tmp_path)
    with psycopg.connect(f"{base}/postgres", autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS addresses")
        server.execute("CREATE DATABASE addresses")
        yield Machine(f"{base}/addresses", tmp_path)
        server.execute("DROP DATABASE addresses WITH (FORCE)")


def test_a_command_uses_the_stored_domains_if_none_are_given(machine: Machine) -> None:
    machine.store("www.social.example")
    done = machine.run(*ADDRESSES, LOCAL_DOMAIN="", PORT="9000")
    assert done.stdout.splitlines()[-1:] == ["social.example https://www.social.example"], done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"LOCAL_DOMAIN": "other.example"}, "This installation is social.example for ever"),
        ({"WEB_DOMAIN": "other.example"}, "pages at www.social.example, and WEB_DOMAIN is other.example"),
    ],
)
def test_a_command_with_other_domains_than_the_stored_ones_is_refused(
    machine: Machine, given: dict[str, str], words: str
) -> None:
    machine.store("www.social.example")
    for command in (machine.run(*ADDRESSES, **given), serve(machine, **{"LOCAL_DOMAIN": "social.example", **given})):
        assert words in refusal(command)


def serve(machine: Machine, **more: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "social.runtime.serve", "web", environment=machine.environment(**more))


def test_a_command_during_the_first_start_waits_for_its_domain(machine: Machine) -> None:
    started = time.monotonic()

    def end_of_start() -> None:
        time.sleep(2)
        (machine.data_dir / "run" / "last.json").write_text('{"WEB_DOMAIN": "www.social.example"}')
        machine.store()

    with sole_supervisor(machine.data_dir):
        start = threading.Thread(target=end_of_start)
        start.start()
        done = machine.run(*ADDRESSES)
        start.join()
    assert done.stdout.splitlines()[-1:] == ["social.example https://www.social.example"], done.stderr
    assert time.monotonic() - started > 2


def test_a_command_waits_for_a_first_start_that_has_no_database_yet(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    environment = clean_environment(DATA_DIR=str(tmp_path))
    command = [sys.executable, "manage.py", "create_account", "alice", "--email", "alice@example.com"]
    with sole_supervisor(tmp_path):
        waiting = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(timeout=3)
    _, errors = waiting.communicate(timeout=60)
    assert errors.startswith("manage.py create_account: Nothing is set up in "), "the start ended without a database"


def test_a_command_before_the_first_start_is_refused(machine: Machine) -> None:
    line = refusal(machine.run("create_account", "alice", "--email", "alice@example.com"))
    assert re.search(r"first start of this server is not complete.*DATA_DIR=\S+ \S+ run$", line)


@pytest.mark.parametrize("is_first", [True, False])
def test_setup_waits_for_a_database_that_starts_later(machine: Machine, tmp_path: Path, is_first: bool) -> None:
    """The machine boots faster than the database's machine; `is_first` means that the machine has no secrets yet."""
    machine.store()
    if is_first:
        (machine.data_dir / "secrets.json").unlink()
    (sockets,) = {match[1] for match in [re.search(r"@(%2F[^/]*)/", machine.address)] if match}
    late = tmp_path / "late"
    environment = machine.environment(LOCAL_DOMAIN="other.example")
    environment["DATABASE_URL"] = machine.address.replace(sockets, str(late).replace("/", "%2F"))
    command = [sys.executable, "manage.py", "setup"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as setup:
        assert setup.stderr is not None
        assert setup.stderr.readline().endswith("Waiting for it, 60 s at most.\n")
        late.symlink_to(sockets.replace("%2F", "/"))
        assert "This installation is social.example for ever" in setup.stderr.read()
