"""Marker of an operation that replaces what a data directory holds, and was not finished: nothing else may start there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from social.runtime.failures import OperatorError

_NAME: Final = "unfinished.json"


def begin(data_dir: Path, *, what: str, remedy: str) -> None:
    """Mark the data directory before anything in it is changed. `remedy` is the command that goes on."""
    temporary = data_dir / f".{_NAME}"
    with temporary.open("w") as file:
        json.dump({"what": what, "remedy": remedy}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(data_dir / _NAME)
    sync_folder(data_dir)


def is_marked(data_dir: Path) -> bool:
    """Tell whether such an operation was begun and not finished."""
    return (data_dir / _NAME).exists()


def end(data_dir: Path) -> None:
    """Take the mark away: everything is on the disk."""
    (data_dir / _NAME).unlink(missing_ok=True)
    sync_folder(data_dir)


def refuse_unfinished(data_dir: Path) -> None:
    """Raises OperatorError, with the remedy, when the data directory is marked."""
    try:
        marked = json.loads((data_dir / _NAME).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return
    except ValueError:
        marked = {}
    what, remedy = marked.get("what", "An operation"), marked.get("remedy", "it again")
    raise OperatorError(f"{what} of {data_dir} was interrupted, and what is there is not whole. Let it end: {remedy}")


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
