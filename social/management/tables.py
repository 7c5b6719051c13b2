"""Tables that commands print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

_WIDEST: Final = 60


class Output(Protocol):
    """Receiver of lines: that of a command."""

    def write(self, msg: str) -> None:
        """Take a line."""
        ...


def table(output: Output, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows that have the same columns, each value cut to one short line, below the names of the columns."""
    lines = [tuple(rows[0]), *(tuple(_cell(value) for value in row.values()) for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        output.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: Any) -> str:
    line = next(iter(str("-" if value is None else value).splitlines()), "")
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
