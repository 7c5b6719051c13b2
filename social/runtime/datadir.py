"""The data directory: checks of access and free space, and locks."""

import errno
import fcntl
import os
import pwd
import shutil
import tempfile
from pathlib import Path
from typing import IO

from social.runtime.failures import OperatorError

ROOM_FOR_A_START = 32 * 1024 * 1024
ROOM_FOR_A_NEW_DATABASE = 256 * 1024 * 1024


def open_data_dir(path: Path) -> None:
    """Create the data directory and its `run` folder if needed. Raises OperatorError if they cannot be used."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / "run").mkdir(exist_ok=True)
        os.listdir(path)
        with tempfile.TemporaryFile(dir=path / "run"):
            pass
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = (
            "Its disk is full: free some space (backups, logs)" if full else f"Give it to user {_user()} (chown -R)"
        )
        raise OperatorError(
            f"The data directory {path} cannot be used ({error.strerror}: {error.filename}). {remedy}, "
            f"or set DATA_DIR to another one."
        ) from None


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def check_room(path: Path, needed: int, *, elsewhere: str = "set DATA_DIR to a directory on another disk") -> None:
    """Raise OperatorError if this user has fewer than `needed` bytes free on the disk of `path`, which need not exist."""
    place = next(place for place in (path, *path.parents) if place.exists())
    free = shutil.disk_usage(place).free
    if free < needed:
        raise OperatorError(
            f"The disk of {path} is full: {free >> 20} MB are free, {needed >> 20} MB are needed. "
            f"Free some space, or {elsewhere}."
        )


def try_lock(path: Path, *, shared: bool = False) -> IO[str] | None:
    """Return a lock on a file, held until the returned file is closed or this process ends; None if another process holds
    it. The kernel releases the lock when its process ends: a killed holder leaves nothing to clean up.
    """
    try:
        return wait_for_lock(path, shared=shared, flags=fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def wait_for_lock(path: Path, *, shared: bool = False, flags: int = 0) -> IO[str]:
    """Take a lock like `try_lock`, but wait until other processes release it. `flags` are those of `flock`."""
    try:
        file = path.open("a+")
    except OSError as error:
        raise OperatorError(f"{path} cannot be opened: {error.strerror}. Give it to user {_user()} (chown).") from None
    try:
        fcntl.flock(file, flags | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
    except BlockingIOError:
        file.close()
        raise
    if not shared:
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    return file


def holder(path: Path) -> str:
    """Return the process id that the holder of an exclusive lock has written into the lock file, or "unknown"."""
    try:
        return path.read_text().strip() or "unknown"
    except OSError:
        return "unknown"


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the exclusive lock of a file; False if there is no such file."""
    if not path.exists():
        return False
    if (lock := try_lock(path, shared=True)) is not None:
        lock.close()
    return lock is None


def running_supervisor(data_dir: Path) -> str | None:
    """Return the process id of the data directory's supervisor; None if no supervisor runs."""
    path = data_dir / "run" / "supervisor.lock"
    return holder(path) if is_locked(path) else None


def sole_supervisor(data_dir: Path) -> IO[str]:
    """Lock the data directory for one supervisor. Raises OperatorError while another process has the lock."""
    path = data_dir / "run" / "supervisor.lock"
    if (lock := try_lock(path)) is None:
        raise OperatorError(
            f"{data_dir} is already run by process {holder(path)}. "
            f"Stop that one, or give this one its own DATA_DIR, --port and --streaming-port."
        )
    return lock
