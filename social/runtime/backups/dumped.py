"""Reads a dump without executing it (security row 82). A restore loads only its rows and the positions of its sequences,
into tables that the migrations of this release create (`schema`).
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from social.runtime.backups.archive import CHUNK, Advance
from social.runtime.failures import OperatorError

_NAME: Final = rb'(?:[a-z_][a-z0-9_]*|"\w+")'
#: The start of the rows of a table. A statement that matches this or POSITION is safe to execute, whoever wrote it.
ROWS: Final = re.compile(rb"COPY public\.(%b) \((%b(?:, %b)*)\) FROM stdin;\n" % (_NAME, _NAME, _NAME))
POSITION: Final = re.compile(rb"SELECT pg_catalog\.setval\('public\.(%b)', -?\d+, (?:true|false)\);\n" % _NAME)
# Commands of `psql` that pg_dump has written at both ends of a dump since August 2025.
RESTRICTION: Final = re.compile(rb"\\(?:un)?restrict \w+\n")
# Indexes are made by the migrations; an operator may have added others.
_LEFT_OUT: Final = re.compile(
    rb"SET \w+ = [\w' -]+;\n|SELECT pg_catalog\.set_config\('search_path', '', false\);\n|CREATE (?:UNIQUE )?INDEX .*\n"
)
_QUOTE: Final = re.compile(rb"\$\w*\$")
_END_OF_ROWS: Final = b"\\.\n"


@dataclass
class Contents:
    """Contents of a dump: first lines of statements, names of filled tables and of sequences, and applied migrations."""

    statements: set[bytes] = field(default_factory=set)
    names: set[bytes] = field(default_factory=set)
    migrations: set[tuple[str, str]] = field(default_factory=set)


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
        if line == b"\n" or line.startswith(b"--") or RESTRICTION.fullmatch(line):
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
