"""Tests of applying all migrations, reversing all of them, and applying them again."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import clean_environment, manage

pytestmark = [pytest.mark.verify, pytest.mark.timeout(900)]


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """The environment of a command with an empty database."""
    address = os.environ["DATABASE_URL"].rpartition("/")[0]
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS back_and_forth")
        connection.execute("CREATE DATABASE back_and_forth")
    with tempfile.TemporaryDirectory(prefix="social-m-") as folder:
        generate_secrets(Path(folder))
        yield clean_environment(
            DATA_DIR=folder, DATABASE_URL=f"{address}/back_and_forth", REDIS_URL=os.environ["REDIS_URL"]
        )


def state(environment: dict[str, str]) -> tuple[list[str], int]:
    """Return every table, sequence and function of this project, and the number of roles."""
    with psycopg.connect(environment["DATABASE_URL"]) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
            "UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
        there = connection.execute("SELECT to_regclass('accounts_role') IS NOT NULL").fetchone()
        assert there is not None
        roles = connection.execute("SELECT count(*) FROM accounts_role").fetchone() if there[0] else (0,)
        assert roles is not None
    return [name for (name,) in names], roles[0]


def test_every_migration_can_be_unapplied_and_applied_again(environment: dict[str, str]) -> None:
    def migrate(*arguments: str) -> None:
        done = manage("migrate", *arguments, "--verbosity", "0", environment=environment, seconds=400)
        assert done.returncode == 0, done.stderr

    migrate()
    names, roles = state(environment)
    assert roles > 0
    migrate("accounts", "zero")
    migrate("social", "zero")
    left, _none = state(environment)
    assert not [name for name in left if name.startswith(("social_", "accounts_", "statuses_", "federation_"))]
    migrate()
    assert state(environment) == (names, roles)
