"""A database as compressed SQL: written by pg_dump in one snapshot, loaded in one transaction.

Only the rows of a backup are loaded (`dumped`); a dump that this program has just made itself is executed.
"""

import contextlib
import gzip
import os
import re
import shutil
import signal
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

from social.runtime import database
from social.runtime.backups.archive import Advance
from social.runtime.backups.dumped import POSITION, RESTRICTION, ROWS, progress_of, rows_of, statements
from social.runtime.backups.schema import Schema
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.postgres import package_folder
from social.runtime.processes import die_with_parent
from social.settings import env

# A statement at the head of a dump that PostgreSQL before version 17 does not know.
_UNKNOWN_TO_OLDER: Final = b"\nSET transaction_timeout = 0;\n"
_ROWS: Final = re.compile(rb"COPY [^;]+ FROM stdin;\n")
# Tables are dropped together with their indexes, triggers and sequences.
_EMPTY: Final = b"""
DO $$ DECLARE found record; BEGIN
  FOR found IN SELECT oid::regclass AS name FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') LOOP
    EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', found.name);
  END LOOP;
  FOR found IN SELECT oid::regclass AS name FROM pg_class
                WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' LOOP
    EXECUTE format('DROP SEQUENCE %s CASCADE', found.name);
  END LOOP;
  FOR found IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace LOOP
    EXECUTE format('DROP ROUTINE %s CASCADE', found.name);
  END LOOP;
END $$;
"""


class Undecided(OperatorError):
    """Loss of the connection during COMMIT, which leaves unknown whether the database was loaded."""


def _pg_dump(url: str) -> str:
    """Return the path of a pg_dump that is not older than the server: for the embedded server, the one in the wheel; for
    another, preferably one in PATH, because the one in the wheel has no TLS. Raises OperatorError if there is none.
    """
    with database.connect(url) as connection:
        oldest = connection.info.server_version // 10000
    # pg_dump runs as our own user, so the wheel's folder is sufficient: no other user needs access to it.
    found = [shutil.which("pg_dump"), str(package_folder() / "pginstall18" / "bin" / "pg_dump")]
    if url == Embedded(env.DATA_DIR).database_url:
        found.reverse()
    for path in filter(None, found):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30).stdout
            if (major := re.search(r"\) (\d+)", said)) and int(major[1]) >= oldest:
                return path
    raise OperatorError(
        f"The server is PostgreSQL {oldest}, and no pg_dump of that version was found. "
        f"Install its client programs (Debian: postgresql-client-{oldest})."
    )


@contextlib.contextmanager
def dump(url: str, *, without: Sequence[str] = ()) -> Iterator[IO[bytes]]:
    """Return a stream with the dump of a database, without the rows of the tables `without`. Raises OperatorError, with
    the last message of pg_dump, at the end of the block if the dump is not complete.
    """
    parameters = database.parameters(url)
    # The password is in the environment, which other users cannot see.
    password = parameters.pop("password")
    environment = {**os.environ, "PGPASSWORD": password} if password else None
    command = [
        _pg_dump(url),
        f"--dbname={make_conninfo(**parameters)}",
        "--no-owner",
        "--no-privileges",
        "--compress=1",
    ]
    command += [f"--exclude-table-data={table}" for table in without]
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            preexec_fn=die_with_parent(signal.SIGKILL),
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            raise OperatorError(f"pg_dump failed: {lines[-1]}")


def load(url: str, path: Path, advance: Advance, schema: Schema | None = None) -> None:
    """Replace the contents of the database with a dump, in one transaction. `advance` is called with the number of bytes read.

    With `schema`, only the rows of its tables and the positions of its sequences are loaded, and no statement of the dump is
    executed (security row 82). Without it, the dump must be this program's own. Raises OperatorError with the database's
    message; the database is then unchanged, unless the error is Undecided.
    """
    with path.open("rb") as compressed, gzip.open(compressed) as text, database.connect(url) as connection:
        moved = progress_of(compressed, advance)
        try:
            connection.execute(b"BEGIN;" + _EMPTY)
            if schema is None:
                _send(connection, iter(text), moved)
            else:
                _fill(connection, schema, iter(text), moved)
        except (psycopg.Error, OSError, EOFError, zlib.error, ValueError) as error:
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise OperatorError(f"The database could not be loaded, and nothing in it was changed: {said[0]}") from None
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            raise Undecided(f"The database did not say whether it was loaded: {error}. Load it again.") from None
        except psycopg.Error as error:
            raise OperatorError(f"The database could not be loaded, and nothing in it was changed: {error}") from None
        with contextlib.suppress(psycopg.Error):
            connection.execute("ANALYZE")


def _fill(
    connection: psycopg.Connection[Any], schema: Schema, lines: Iterator[bytes], moved: Callable[[], None]
) -> None:
    """Create the tables, load their rows from a dump, then create indexes, constraints and triggers."""
    _execute(connection, [schema.tables])
    for line in statements(lines):
        if start := ROWS.fullmatch(line):
            wanted = start[1] in schema.names
            with connection.cursor().copy(line) if wanted else contextlib.nullcontext() as copy:
                for rows in rows_of(lines):
                    if copy is not None:
                        copy.write(rows)
                    moved()
        elif (position := POSITION.fullmatch(line)) and position[1] in schema.names:
            connection.execute(line)
    _execute(connection, [schema.rest])


def _send(connection: psycopg.Connection[Any], lines: Iterator[bytes], moved: Callable[[], None]) -> None:
    """Execute the lines of our own dump: its statements, and the rows of its tables."""
    waiting: list[bytes] = []
    for line in lines:
        if _ROWS.fullmatch(line):
            _execute(connection, waiting)
            with connection.cursor().copy(line) as copy:
                for rows in rows_of(lines):
                    copy.write(rows)
                    moved()
        elif not RESTRICTION.fullmatch(line):
            waiting.append(line)
    _execute(connection, waiting)
    moved()


def _execute(connection: psycopg.Connection[Any], waiting: list[bytes]) -> None:
    text = b"".join(waiting)
    waiting.clear()
    if text.strip():
        connection.execute(text.replace(_UNKNOWN_TO_OLDER, b"\n", 1))
