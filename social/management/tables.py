from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

_WIDEST: Final = 60


class Output(Protocol):
    def write(self, msg: str) -> None: ...


def table(output: Output, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same columns below their names: the first line of each value, shortened except in the last column."""
    lines = [tuple(rows[0])]
    for row in rows:
        *most, last = map(_line, row.values())
        lines.append((*map(_shortened, most), last))
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        output.write("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _line(value: Any) -> str:
    return next(iter(str("-" if value is None else value).splitlines()), "")


def _shortened(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
