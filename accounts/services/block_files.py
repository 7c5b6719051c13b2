"""Imports and exports CSV files of blocks. A BlockFile for each kind defines what a line means.

The columns, named with or without `#`, may come in any order, and all but the first may be missing; a file without a header
line has one value per line. Below a header line, columns may also be separated by semicolons or tabs.
"""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.servers import FollowsUnder
from social.kernel.batches import in_batches
from social.kernel.errors import Conflict, Invalid, KernelError
from social.kernel.text.csv_headers import find_separator, header_names
from social.kernel.text.names import clean_input

BATCH: Final = 500
_TRUE: Final = ("true", "1", "t", "yes", "on")

D = TypeVar("D")
Action = Literal["add", "change", "keep", "refuse"]
_DONE: Final = ("add", "change")


class UnreadableFile(Invalid):
    """Raised for a file that is not a list of blocks, or is too long."""


class WrongLine(Exception):
    """Raised for an invalid line; its text is the reason."""


@dataclass(frozen=True)
class Entry(Generic[D]):
    """Line of a file. If it has a `problem`, `name` is the unparsed text and `draft` is None."""

    line: int
    name: str
    draft: D
    problem: str = ""


@dataclass(frozen=True)
class Planned(Generic[D]):
    """Planned action for a line, and the follows that it would end: follows between local accounts and the named server."""

    entry: Entry[D]
    action: Action
    reason: str = ""
    follows: FollowsUnder | None = None


class BlockFile(ABC, Generic[D]):
    #: The first column names what is blocked.
    columns: ClassVar[tuple[str, ...]]
    permission: ClassVar[Permission]
    #: Title of the first column.
    name_title: ClassVar[str | Promise]
    filename: ClassVar[str]
    #: Command that imports the same file.
    command: ClassVar[str]
    #: Whether an import can change existing blocks.
    changes: ClassVar[bool] = False

    @abstractmethod
    def parse(self, values: dict[str, str]) -> tuple[str, D]:
        """Return the normalised name and the draft of a line. Raises WrongLine."""

    @abstractmethod
    def plan(self, entries: Sequence[Entry[D]], *, replace: bool) -> Iterator[Planned[D]]:
        """Plan at most BATCH lines without problems, in a fixed number of queries."""

    @abstractmethod
    def do(self, by: Staff, plans: Sequence[Planned[D]]) -> Sequence[Planned[D]]:
        """Carry out at most BATCH plans, in one transaction and a fixed number of statements; return the plans, adapted to
        blocks that have changed meanwhile.

        Raises KernelError; Conflict for a concurrent change.
        """

    @abstractmethod
    def rows(self) -> Iterator[Sequence[str]]:
        """Yield the values of all blocks, in the order of the columns."""

    def details(self, draft: D) -> str:
        """Describe in words the values of a line except the name."""
        return ""


def read_file(kind: BlockFile[D], data: bytes | str, *, most: int | None = None) -> list[Entry[D]]:
    """Return the non-empty lines; invalid and repeated lines have a `problem`. Raises UnreadableFile, also beyond `most`."""
    written = read_lines(kind, data, most=most)
    if not written:
        raise UnreadableFile(_("The file has no entries."))
    # This is checked before parsing, because normalising domains that are not in Latin script takes a long time (security row
    # 78).
    if most is not None and len(written) > most:
        message = _("The file has more than %(most)d lines. The operator can import it with %(command)s.")
        raise UnreadableFile(message % {"most": most, "command": kind.command})
    return parse_lines(kind, written)


def read_lines(
    kind: BlockFile[D], data: bytes | str, *, most: int | None = None, others: Sequence[str] = ()
) -> list[tuple[int, dict[str, str]]]:
    """Return the number of each non-empty line, and its values by column; read at most `most` + 1 lines. Raises UnreadableFile.

    The columns of a file without a header line are the name and `others`.
    """
    key = kind.columns[0].removeprefix("#")
    names = [key, *others]
    lines: list[tuple[int, dict[str, str]]] = []
    is_first = True
    text = _decode(data) if isinstance(data, bytes) else data
    rows = csv.reader(io.StringIO(clean_input(text)), delimiter=find_separator(text, key), strict=True)
    try:
        for number, row in enumerate(rows, start=1):
            if is_first and row:
                is_first = False
                header = header_names(row)
                if key in header:
                    names = header
                    continue
            values = dict(zip(names, (value.strip() for value in row), strict=False))
            if any(values.values()):
                lines.append((number, values))
            if most is not None and len(lines) > most:
                break
    except csv.Error as error:
        raise _unreadable(rows.line_num) from error
    if "\0" in text:
        raise UnreadableFile(_("The file contains NUL bytes, so it is not a text file."))
    return lines


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(data.count(b"\n", 0, error.start) + 1) from error


def _unreadable(line: int) -> UnreadableFile:
    return UnreadableFile(_("That is not a CSV file in UTF-8: line %(line)d cannot be read.") % {"line": line})


def parse_lines(kind: BlockFile[D], written: Iterable[tuple[int, dict[str, str]]]) -> list[Entry[D]]:
    """Return an entry for each of these lines; invalid lines and repeated names have a `problem`."""
    key = kind.columns[0].removeprefix("#")
    entries: list[Entry[D]] = []
    lines: dict[str, int] = {}
    for number, values in written:
        entry = _entry(kind, number, values, key)
        if not entry.problem and lines.setdefault(entry.name, number) != number:
            entry = replace(entry, problem=_("line %(line)d names it already") % {"line": lines[entry.name]})
        entries.append(entry)
    return entries


def _entry(kind: BlockFile[D], line: int, values: dict[str, str], key: str) -> Entry[D]:
    try:
        name, draft = kind.parse(values)
    except WrongLine as wrong:
        nothing: Any = None
        return Entry(line, values.get(key, ""), nothing, str(wrong))
    return Entry(line, name, draft)


def is_true(value: str | None) -> bool | None:
    """Parse a boolean value of a line; None when the file has no such column."""
    return None if value is None else value.lower() in _TRUE


def plan_file(kind: BlockFile[D], entries: Sequence[Entry[D]], *, replace: bool = False) -> list[Planned[D]]:
    """Plan an import; unless `replace`, blocks only become stricter. Makes a fixed number of queries per BATCH lines."""
    planned: list[Planned[D]] = []
    for batch in in_batches(entries, BATCH):
        good = iter(kind.plan([entry for entry in batch if not entry.problem], replace=replace))
        planned += [Planned(entry, "refuse", entry.problem) if entry.problem else next(good) for entry in batch]
    return planned


def import_file(kind: BlockFile[D], *, by: Staff, planned: Sequence[Planned[D]]) -> Iterator[Planned[D]]:
    """Carry out a plan, BATCH lines per transaction; yield each line, with a `reason` if refused. Raises Forbidden."""
    require(by, kind.permission)
    for batch in in_batches(planned, BATCH):
        done = iter(_apply_batch(kind, by, [plan for plan in batch if plan.action in _DONE]))
        yield from (next(done) if plan.action in _DONE else plan for plan in batch)


def _apply_batch(kind: BlockFile[D], by: Staff, plans: Sequence[Planned[D]]) -> Sequence[Planned[D]]:
    try:
        try:
            return kind.do(by, plans)
        except Conflict:
            # The second attempt finds the blocks that somebody else has just written.
            return kind.do(by, plans)
    except KernelError as error:
        return [replace(plan, action="refuse", reason=error.message) for plan in plans]


def export_file(kind: BlockFile[D]) -> Iterator[str]:
    yield _line(kind.columns)
    for row in kind.rows():
        yield _line(row)


def _line(values: Sequence[str]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(values)
    return written.getvalue()
