"""Marker for a data directory whose contents a command is replacing. Until this command has finished, no other may start
there.
"""

import json
import os
from pathlib import Path
from typing import Final

from social.kernel.descriptors import sync_folder
from social.runtime.failures import OperatorError

_NAME: Final = "unfinished.json"


def begin(data_dir: Path, *, what: str, remedy: str) -> None:
    """Mark the data directory before the operation `what` changes anything in it. `remedy` is the command that repeats it."""
    temporary = data_dir / f".{_NAME}"
    with temporary.open("w") as file:
        json.dump({"what": what, "remedy": remedy}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(data_dir / _NAME)
    sync_folder(data_dir)


def find_mark(data_dir: Path) -> str | None:
    """Return the name of the unfinished operation; None if there is none."""
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
    """Remove the mark. Call it when all data is on the disk."""
    (data_dir / _NAME).unlink(missing_ok=True)
    sync_folder(data_dir)


def refuse_unfinished(data_dir: Path, *, but: str = "") -> None:
    """Raise OperatorError, with the remedy, if the data directory is marked by an operation other than `but`."""
    mark = _read(data_dir)
    if mark is not None and mark["what"] != but:
        raise OperatorError(
            f"{mark['what']} of {data_dir} was interrupted, and its data is incomplete. Complete it: {mark['remedy']}"
        )
