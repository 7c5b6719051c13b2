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


def find_mark(data_dir: Path) -> str | None:
    """The name of the operation that was begun and not finished; None when there is none."""
    mark = _read(data_dir)
    return None if mark is None else mark["what"]


def _read(data_dir: Path) -> dict[str, str] | None:
    try:
        mark: dict[str, str] = json.loads((data_dir / _NAME).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        mark = {}
    return {"what": "An operation", "remedy": "it again"} | mark


def end(data_dir: Path) -> None:
    """Take the mark away: everything is on the disk."""
    (data_dir / _NAME).unlink(missing_ok=True)
    sync_folder(data_dir)


def refuse_unfinished(data_dir: Path, *, but: str = "") -> None:
    """Raises OperatorError, with the remedy, when the data directory is marked by another operation than `but`."""
    mark = _read(data_dir)
    if mark is not None and mark["what"] != but:
        raise OperatorError(
            f"{mark['what']} of {data_dir} was interrupted, and what is there is not whole. Let it end: {mark['remedy']}"
        )


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
