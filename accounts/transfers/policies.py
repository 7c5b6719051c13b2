"""Reads and writes the lists that people transfer between servers: CSV files in UTF-8, as Mastodon exports them.

The first line may name the columns, in any order and case; otherwise the columns are in the order of the list. Missing columns
are empty; unknown ones are ignored.
"""

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from social.kernel.errors import KernelError
from social.kernel.text.csv_headers import find_separator

FILE_LIMIT: Final = 4 * 1024 * 1024
"""Maximum number of bytes of a file."""
LINES_LIMIT: Final = 20_000
CELL_LIMIT: Final = 3000
"""Maximum number of characters in a cell; no address is longer."""


class Problem(StrEnum):
    """Reason why a file or one of its lines cannot be imported."""

    NO_TEXT = "no_text"
    NO_TABLE = "no_table"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TOO_MANY_LINES = "too_many_lines"
    OTHER_LIST = "other_list"
    NO_USABLE_LINE = "no_usable_line"

    NO_ADDRESS = "no_address"
    NO_DOMAIN = "no_domain"
    NO_BOOLEAN = "no_boolean"
    NO_POST_ADDRESS = "no_post_address"
    CELL_TOO_LONG = "cell_too_long"

    UNKNOWN = "unknown"
    """Account or post that, according to its server, does not exist, or whose server cannot be reached."""
    ONESELF = "oneself"
    REFUSED = "refused"
    LIMIT = "limit"


class Unreadable(KernelError):
    """A file that is refused as a whole; `line` is the line at which reading ended, 0 for the whole file."""

    def __init__(self, problem: Problem, line: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class BadLine(KernelError):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table: its number in the file, and its cells in the order of the list's columns."""

    number: int
    cells: tuple[str, ...]


def read_table(data: bytes, columns: Sequence[str], foreign: Collection[str] = ()) -> list[Line]:
    """Return the non-empty lines of a file with these columns. Raises Unreadable, also for a file with one of the `foreign`
    columns.
    """
    if len(data) > FILE_LIMIT:
        raise Unreadable(Problem.TOO_LARGE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(Problem.NO_TEXT, data.count(b"\n", 0, error.start) + 1) from None
    if "\0" in text:
        raise Unreadable(Problem.NO_TEXT, text.count("\n", 0, text.index("\0")) + 1)
    lines: list[Line] = []
    order: Sequence[int | None] = range(len(columns))
    first = True
    for number, cells in _records(text, find_separator(text, columns[0])):
        if first:
            first = False
            positions = _order(cells, columns, foreign)
            if positions is not None:
                order = positions
                continue
        if len(lines) >= LINES_LIMIT:
            raise Unreadable(Problem.TOO_MANY_LINES, number)
        lines.append(Line(number, tuple(_cell(cells, position) for position in order)))
    if not lines:
        raise Unreadable(Problem.EMPTY)
    return lines


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise Unreadable(Problem.NO_TABLE, number) from None
        if any(cell.strip() for cell in cells):
            yield number, cells


def _order(cells: Sequence[str], columns: Sequence[str], foreign: Collection[str]) -> list[int | None] | None:
    """Return each column's position if the cells name columns, otherwise None. Raises Unreadable for another list's columns."""
    names = [cell.strip().casefold() for cell in cells]
    if not {name.casefold() for name in foreign}.isdisjoint(names):
        raise Unreadable(Problem.OTHER_LIST)
    wanted = [column.casefold() for column in columns]
    if wanted[0] not in names:
        return None
    return [names.index(name) if name in names else None for name in wanted]


def _cell(cells: Sequence[str], position: int | None) -> str:
    return cells[position].strip() if position is not None and position < len(cells) else ""


def read_boolean(cell: str) -> bool | None:
    """Parse `true` or `false`; return None for an empty cell. Raises BadLine."""
    if not cell:
        return None
    value = {"true": True, "1": True, "false": False, "0": False}.get(cell.lower())
    if value is None:
        raise BadLine(Problem.NO_BOOLEAN)
    return value


def write_boolean(value: bool) -> str:
    return "true" if value else "false"


def write_line(cells: Sequence[str]) -> str:
    """Return a line of a CSV file with these cells, with its line end."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
