"""How commands and the supervisor share the embedded servers of one data directory.

Two locks that the kernel drops with their process. `servers.owner` is held by the one process that runs the servers;
`servers.users` is held, shared, by everyone who needs them. An owner that is a command stops them only when it has the
second lock alone, so the last user ends before the servers do; the supervisor, when stopped by a signal, does not wait.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from social.runtime.datadir import holder, try_lock, wait_for_lock
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError

PATIENCE = 60.0


def owner_lock(data_dir: Path) -> Path:
    """The lock of the process that runs the servers."""
    return data_dir / "run" / "servers.owner"


def users_lock(data_dir: Path) -> Path:
    """The lock of those who need them."""
    return data_dir / "run" / "servers.users"


@contextlib.contextmanager
def borrowed_servers(
    embedded: Embedded, *, patience: float = PATIENCE, also_silent: bool = False
) -> Iterator[Embedded]:
    """The servers, for a command: the running ones, or started here and stopped when nobody needs them any more.

    When somebody runs them and they do not answer within `patience` seconds: raises OperatorError, or goes on without
    them (`also_silent`, for the doctor).
    """
    data_dir = embedded.data_dir
    deadline = time.monotonic() + patience
    while True:
        users = wait_for_lock(users_lock(data_dir), shared=True)
        owner = try_lock(owner_lock(data_dir))
        if owner is not None:
            break
        if embedded.answers() or (also_silent and time.monotonic() > deadline):
            with users:
                yield embedded
            return
        # Somebody starts them, or is about to stop them and waits for us to let go.
        users.close()
        if time.monotonic() > deadline:
            pid = holder(owner_lock(data_dir))
            raise OperatorError(f"The servers of {data_dir}, run by process {pid}, do not answer. Stop it: kill {pid}.")
        time.sleep(0.05)
    with owner:
        try:
            embedded.start()
            yield embedded
        finally:
            users.close()
            with _alone(data_dir):
                embedded.stop()


def _alone(data_dir: Path) -> IO[str]:
    lock = try_lock(users_lock(data_dir))
    if lock is None:
        print("Another command still uses the servers that this one started: waiting for it to end.", file=sys.stderr)
        lock = wait_for_lock(users_lock(data_dir))
    return lock


@contextlib.contextmanager
def owned_servers(data_dir: Path) -> Iterator[None]:
    """The right to run the servers of `data_dir`, for the supervisor.

    Raises OperatorError when a command that started them does not end within 60 s.
    """
    path = owner_lock(data_dir)
    deadline = time.monotonic() + PATIENCE
    reported = False
    while (lock := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise OperatorError(
                f"A command (process {holder(path)}) has the servers of {data_dir} running. Let it end, or stop it."
            )
        if not reported:
            reported = True
            print(f"Waiting for the command that uses {data_dir} (process {holder(path)}) to end.", file=sys.stderr)
        time.sleep(0.1)
    with lock:
        yield
