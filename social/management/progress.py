"""Progress bars of commands, for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any, Final

import click

_SHOWN_AFTER: Final = 1.0


@contextmanager
def progress_bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show at the terminal how much of `total` is done, after the first second; elsewhere, the label alone.

    What it yields is called with how much was done since the last call. `total` is None when nobody knows.
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
