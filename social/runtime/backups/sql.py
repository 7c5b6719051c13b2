"""A database as compressed SQL: written by pg_dump in one snapshot, loaded in one transaction.

From the dump in a backup, only the rows and the positions of sequences are loaded, into tables that the migrations of this
release create (`schema`); its statements are not executed (security row 82). A dump that this program has just made itself is
executed.
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
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from psycopg.conninfo import make_conninfo

from social.runtime import database
from social.runtime.backups.archive import CHUNK, Advance
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.postgres import package_folder
from social.runtime.processes import die_with_parent
from social.settings import env

_NAME: Final = rb'(?:[a-z_][a-z0-9_]*|"\w+")'
#: The line before the rows of a table. A statement that matches this or POSITION is safe to execute, whoever wrote it.
ROWS: Final = re.compile(rb"COPY public\.(%b) \((%b(?:, %b)*)\) FROM stdin;\n" % (_NAME, _NAME, _NAME))
POSITION: Final = re.compile(rb"SELECT pg_catalog\.setval\('public\.(%b)', -?\d+, (?:true|false)\);\n" % _NAME)
# `psql` commands that pg_dump, since its releases of August 2025, writes at the start and the end of a dump.
_RESTRICTION: Final = re.compile(rb"^\\(?:un)?restrict \w+\n", re.MULTILINE)
# Indexes are made by the migrations; an operator may have added others.
_LEFT_OUT: Final = re.compile(
    rb"SET \w+ = [\w' -]+;\n|SELECT pg_catalog\.set_config\('search_path', '', false\);\n|CREATE (?:UNIQUE )?INDEX .*\n"
)
_QUOTE: Final = re.compile(rb"\$\w*\$")
_END_OF_ROWS: Final = b"\\.\n"
_NAMED: Final = re.compile(rb"public\.(%b)" % _NAME)
# Statement at the start of a dump; PostgreSQL before version 17 does not know it.
_UNKNOWN_TO_OLDER: Final = b"\nSET transaction_timeout = 0;\n"
_ROWS: Final = re.compile(rb"COPY [^;]+ FROM stdin;\n")
# The tables come first, with their indexes, triggers and sequences. ORDER BY collects all names before the first DROP.
_EMPTY: Final = b"""
DO $$ DECLARE found record; BEGIN
  FOR found IN
    SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, oid::regclass::text AS name
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')
    UNION SELECT 'ROUTINE', oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ORDER BY kind DESC
  LOOP
    EXECUTE format('DROP %s IF EXISTS %s CASCADE', found.kind, found.name);
  END LOOP;
END $$;
"""


class Undecided(OperatorError):
    """Loss of the connection during COMMIT, which leaves unknown whether the database was loaded."""


@dataclass
class Contents:
    """Contents of a dump: first lines of statements, names of filled tables and of sequences, and applied migrations."""

    statements: set[bytes] = field(default_factory=set)
    names: set[bytes] = field(default_factory=set)
    migrations: set[tuple[str, str]] = field(default_factory=set)


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


def read(path: Path, advance: Advance) -> Contents:
    """Return the contents of a dump; call `advance` with the number of bytes read. Raises OperatorError for a damaged dump."""
    found = Contents()
    try:
        with path.open("rb") as compressed, gzip.open(compressed) as text:
            _read(iter(text), found, progress_of(compressed, advance))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise OperatorError(f"{path} is damaged ({error}). Take another backup.") from None
    return found


def _read(lines: Iterator[bytes], found: Contents, moved: Callable[[], None]) -> None:
    for line in statements(lines):
        if start := ROWS.fullmatch(line):
            found.names.add(start[1])
            columns = start[2].decode().split(", ")
            for rows in rows_of(lines):
                moved()
                if start[1] == b"django_migrations":
                    for row in rows.decode().split("\n")[:-1]:
                        values = dict(zip(columns, row.split("\t"), strict=True))
                        found.migrations.add((values.get("app", ""), values.get("name", "")))
        elif position := POSITION.fullmatch(line):
            found.names.add(position[1])
        elif not _LEFT_OUT.fullmatch(line):
            found.statements.add(line)


def statements(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the first line of each statement. After a line that matches ROWS, the caller reads the rows from `lines`.
    Raises ValueError if the last statement does not end.
    """
    for line in lines:
        if line == b"\n" or line.startswith(b"--") or _RESTRICTION.fullmatch(line):
            continue
        yield line
        if ROWS.fullmatch(line):
            continue
        quote, part = b"", line
        while True:
            for mark in _QUOTE.findall(part):  # the same tag opens and closes a function body
                quote = mark if not quote else b"" if mark == quote else quote
            if not quote and part.endswith(b";\n"):
                break
            if not (part := next(lines, b"")):
                raise ValueError("no end of a statement")  # its text may hold secrets


def rows_of(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the rows of a table in chunks, until the line that ends them. Raises ValueError if there is no such line."""
    found: list[bytes] = []
    size = 0
    for line in lines:
        if line == _END_OF_ROWS:
            yield b"".join(found)
            return
        found.append(line)
        size += len(line)
        if size >= CHUNK:
            yield b"".join(found)
            found, size = [], 0
    raise ValueError("no end of rows")


def progress_of(file: IO[bytes], advance: Advance) -> Callable[[], None]:
    """Return a function that reports the bytes read from a file since its last call."""
    before = 0

    def moved() -> None:
        nonlocal before
        advance(file.tell() - before)
        before = file.tell()

    return moved


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
    command = [_pg_dump(url), f"--dbname={make_conninfo(**parameters)}"]
    command += ["--no-owner", "--no-privileges", "--compress=1"]
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
        else:
            waiting.append(line)
    _execute(connection, waiting)
    moved()


def _execute(connection: psycopg.Connection[Any], waiting: list[bytes]) -> None:
    text = _RESTRICTION.sub(b"", b"".join(waiting))
    waiting.clear()
    if text.strip():
        connection.execute(text.replace(_UNKNOWN_TO_OLDER, b"\n", 1))
