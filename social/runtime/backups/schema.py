"""Tables, functions and triggers as the migrations of this release create them, for the rows of a backup (security row 82).

The migrations run in a PostgreSQL cluster of its own, which is removed afterwards.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler

from social.runtime.backups.dumped import RESTRICTION, Contents, statements
from social.runtime.datadir import wait_for_lock
from social.runtime.embedded import Embedded
from social.runtime.postgres import package_folder
from social.settings import env

_NAMED: Final = re.compile(rb'public\.([a-z_][a-z0-9_]*|"\w+")')


@dataclass(frozen=True)
class Schema:
    """SQL of a schema: `tables` creates the tables, and `rest`, once they are filled, the indexes, constraints and triggers."""

    tables: bytes
    rest: bytes

    @cached_property
    def names(self) -> set[bytes]:
        return set(_NAMED.findall(self.tables))

    def find_unknown(self, dump: Contents) -> list[str]:
        """Return the first lines of statements, and the names, that are in the dump but are not created by the migrations."""
        ours = set(statements(iter((self.tables + self.rest).splitlines(keepends=True))))
        return sorted(
            found.decode(errors="replace").strip() for found in dump.statements - ours | dump.names - self.names
        )


def make_schema(applied: set[tuple[str, str]]) -> Schema:
    """Return the schema that these migrations, with those that they depend on, create in an empty database."""
    with _scratch_server() as server, _as_default_database(server.database_url):
        _migrate(applied)
        return schema_of(server.database_url)


def schema_of(url: str) -> Schema:
    """Return the schema of a database of the embedded PostgreSQL."""
    return Schema(_statements(url, "pre-data"), _statements(url, "post-data"))


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
            folder.chmod(0o755)  # another user may run PostgreSQL
            server.start()
            yield server
        finally:
            server.stop()
            _remove(server)


def _remove(server: Embedded) -> None:
    # The folder of PostgreSQL may be elsewhere.
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


def _statements(url: str, section: str) -> bytes:
    command = [str(package_folder() / "pginstall18" / "bin" / "pg_dump"), "--no-owner", "--no-privileges"]
    command += [f"--section={section}", f"--dbname={url}"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return b"".join(line for line in done.stdout.splitlines(keepends=True) if not RESTRICTION.fullmatch(line))
