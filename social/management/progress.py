"""Progress bars of commands, for work that takes longer than a second."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, Final

import click

_SHOWN_AFTER: Final = 1.0


def steps(advance: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that advances a progress bar to a total, for work that reports totals."""
    before = 0

    def reach(total: int) -> None:
        nonlocal before
        advance(total - before)
        before = total

    return reach


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the progress in a terminal after the first second; other outputs get only the label. Yields a function to be
    called with the amount done since its last call. `total` is None if it is unknown.
    """
    began = time.monotonic()
    waiting = 0
    bar: Any = None

    def advance(amount: int) -> None:
        nonlocal bar, waiting
        waiting += amount
        if bar is None and time.monotonic() - began >= _SHOWN_AFTER:
            endless = repeat(0) if total is None else None
            bar = click.progressbar(endless, total, label, show_pos=total is None, file=sys.stderr)
            bar.__enter__()
        if bar is not None and waiting:
            bar.update(waiting)
            waiting = 0

    try:
        yield advance
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)
