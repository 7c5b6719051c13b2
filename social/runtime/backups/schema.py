"""The tables, functions and triggers that the migrations of this release create; the rows of a backup are loaded into them
(security row 82).

The migrations run in a separate PostgreSQL cluster, which is removed afterwards.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler

from social.runtime.backups.sql import Schema
from social.runtime.datadir import wait_for_lock
from social.runtime.embedded import Embedded
from social.runtime.postgres import package_folder
from social.settings import env


def make_schema(applied: set[tuple[str, str]]) -> Schema:
    """Return the schema that these migrations and their dependencies create in an empty database."""
    with _scratch_server() as server, _as_default_database(server.database_url):
        _migrate(applied)
        return schema_of(server.database_url)


def schema_of(url: str) -> Schema:
    """Return the schema of a database of the embedded PostgreSQL."""
    program = package_folder() / "pginstall18" / "bin" / "pg_dump"
    command = [str(program), "--no-owner", "--no-privileges", f"--dbname={url}"]
    sections = [["--section=pre-data"], ["--section=post-data"]]
    return Schema(*(subprocess.run(command + part, check=True, stdout=subprocess.PIPE).stdout for part in sections))


@contextmanager
def _scratch_server() -> Iterator[Embedded]:
    """Return a running PostgreSQL with an empty database. Its files, and those that a killed run has left, are removed."""
    folder = env.DATA_DIR / "run" / "schema"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with wait_for_lock(folder.with_suffix(".lock")):
        server = Embedded(folder, durable=False, valkey_wanted=False)
        server.wait_for_former()
        _remove(server)
        server = Embedded(folder, durable=False, valkey_wanted=False)
        try:
            folder.chmod(0o755)  # PostgreSQL may run as another user
            server.start()
            yield server
        finally:
            server.stop()
            _remove(server)


def _remove(server: Embedded) -> None:
    # The folder of PostgreSQL may be outside the data directory.
    for folder in (server.sockets, server.postgres.folder, server.data_dir):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _as_default_database(url: str) -> Iterator[None]:
    """Make another database the default one, because migrations use the default database."""
    former = connections["default"]
    connections["default"] = ConnectionHandler({"default": env.database(url)})["default"]
    try:
        yield
    finally:
        connection.close()
        connections["default"] = former


def _migrate(applied: set[tuple[str, str]]) -> None:
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    wanted: set[tuple[str, str]] = set()
    for key, migration in graph.nodes.items():
        if key in applied or (migration.replaces and applied.issuperset(migration.replaces)):
            wanted.update(graph.forwards_plan(key))
    # Only the last migrations of each app are targets, because the executor would unapply those that follow a target in the
    # same app.
    followed = {parent.key for key in wanted for parent in graph.node_map[key].parents if parent.key[0] == key[0]}
    executor.migrate(list(wanted - followed))
