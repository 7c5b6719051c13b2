"""A database as compressed SQL: written in one snapshot, loaded in one transaction."""

from __future__ import annotations

import contextlib
import gzip
import re
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final

import psycopg

from social.runtime import database
from social.runtime.backups.archive import CHUNK, Advance
from social.runtime.backups.programs import Program, program
from social.runtime.failures import OperatorError
from social.runtime.processes import die_with_parent

_LOOK_SECONDS: Final = 0.2
# At the head of a dump; servers before 17 do not know it.
_UNKNOWN_TO_OLDER: Final = b"\nSET transaction_timeout = 0;\n"
_HEAD: Final = 8192
_TAIL: Final = 512
#: What dumps begin and end with since August 2025, with a key of their own.
_RESTRICTED: Final = re.compile(rb"^\\restrict \w+\n", re.MULTILINE)
_UNRESTRICTED: Final = re.compile(rb"^\\unrestrict \w+\n\s*\Z", re.MULTILINE)
# Tables take their indexes, triggers and own sequences along.
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
    """Loss of the database at the moment that decides whether it was loaded."""


def _version(url: str) -> int:
    with database.connect(url) as connection:
        return connection.info.server_version // 10000


def dump(url: str, target: Path, advance: Advance, *, without: Sequence[str] = ()) -> None:
    """Write a database to a new file, but for the rows of the tables `without`. `advance` is called with written bytes.

    Raises OperatorError with what pg_dump said last.
    """
    found = program("pg_dump", url, oldest=_version(url))
    options = ["--no-owner", "--no-privileges", "--compress=1", f"--file={target}"]
    options += [f"--exclude-table-data={table}" for table in without]
    target.touch(mode=0o600)
    written = 0
    with tempfile.TemporaryFile() as said:
        process = _start(found, options, subprocess.DEVNULL, said)
        with process:
            try:
                while process.poll() is None:
                    time.sleep(_LOOK_SECONDS)
                    size = target.stat().st_size
                    advance(size - written)
                    written = size
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            raise OperatorError(f"pg_dump failed: {_last_line(said)}")


def load(url: str, path: Path, advance: Advance) -> None:
    """Replace what is in the database by what `dump` wrote, in one transaction. `advance` is called with read bytes.

    Raises OperatorError with what psql said last; nothing was changed then, unless it is Undecided. A dump runs no programs
    of ours, but it is SQL: what the database's user may do, it may do.
    """
    found = program("psql", url, oldest=_version(url))
    with path.open("rb") as compressed, gzip.open(compressed) as text, tempfile.TemporaryFile() as said:
        code, ended = _feed(found, text, said, _moves(compressed, advance))
        last = _last_line(said)
    if code != 0:
        if ended:
            raise Undecided(f"The database did not say whether it was loaded: {last}. Load it again.")
        raise OperatorError(f"The database could not be loaded, and nothing in it was changed: {last}")
    with database.connect(url) as connection, contextlib.suppress(psycopg.Error):
        connection.execute("ANALYZE")


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    return (said.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]


def _start(found: Program, options: Sequence[str], source: int, said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*found.command, *options],
        env=found.environment,
        stdin=source,
        stderr=said,
        preexec_fn=die_with_parent(signal.SIGKILL),
    )


def _moves(file: IO[bytes], advance: Advance) -> Callable[[], None]:
    """A function that reports how far a file was read since its last call."""
    before = 0

    def moved() -> None:
        nonlocal before
        advance(file.tell() - before)
        before = file.tell()

    return moved


def _feed(found: Program, text: gzip.GzipFile, said: IO[bytes], moved: Callable[[], None]) -> tuple[int, bool]:
    """Have psql run a dump; its exit code, and whether it was asked to end the transaction: until then nothing changes."""
    options = ("--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1")
    key = secrets.token_hex(32)
    process = _start(found, options, subprocess.PIPE, said)
    ended = False
    with process:
        assert process.stdin is not None
        try:
            # From here on psql takes SQL alone: a dump that was changed could have it run programs (security row 82).
            process.stdin.write(f"\\restrict {key}\n".encode() + b"BEGIN;\n" + _EMPTY)
            head = _RESTRICTED.sub(b"", text.read(_HEAD), count=1).replace(_UNKNOWN_TO_OLDER, b"\n", 1)
            rest = head[-_TAIL:]
            process.stdin.write(head[:-_TAIL])
            while chunk := text.read(CHUNK):
                rest += chunk
                process.stdin.write(rest[:-_TAIL])
                rest = rest[-_TAIL:]
                moved()
            process.stdin.write(_UNRESTRICTED.sub(b"", rest, count=1))
            ended = True
            process.stdin.write(b"COMMIT;\n")
            process.stdin.close()
        except BrokenPipeError:
            pass
        except BaseException:
            process.kill()
            raise
    return process.returncode, ended
