"""The CPU time and the memory of all processes of a running server."""

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

#: Words that identify each kind of process by its command line: the first match wins, and a process without a match is `run`.
_MARKS: Final = {
    "Valkey": "valkey-server",  # before PostgreSQL, because the path of the socket contains its name
    "PostgreSQL": "postgres",
    "decoder": "media.decoding",
    **{name: f"social.runtime.serve {name}" for name in ("web", "streaming", "worker", "scheduler")},
}


@dataclass(frozen=True)
class Memory:
    """Memory in MiB by kind of process; shared pages are divided among the processes that share them (PSS).

    `own` is anonymous memory, `files` is memory mapped from programs and libraries, and `shared` is shared memory, which
    PostgreSQL uses.
    """

    processes: Counter[str]
    own: Counter[str]
    files: Counter[str]
    shared: Counter[str]

    def __str__(self) -> str:
        parts = {"own": self.own, "files": self.files, "shared": self.shared}
        lines = [f"{sum(part.total() for part in parts.values()):.0f} MiB"]
        for kind, count in sorted(self.processes.items()):
            each = ", ".join(f"{name} {part[kind]:.0f}" for name, part in parts.items())
            lines.append(f"  {kind:11} {count:3}   {sum(part[kind] for part in parts.values()):5.0f} MiB ({each})")
        return "\n".join(lines)


class Tree:
    """All processes of a running `tests.support.instance.Instance`, grouped by kind: web, worker, PostgreSQL and so on."""

    def __init__(self, server: Any) -> None:
        self.root = psutil.Process(server.process.pid)

    def processes(self) -> list[psutil.Process]:
        return [self.root, *self.root.children(recursive=True)]

    def cpu(self) -> float:
        """Return the CPU seconds used so far, including those of child processes that have ended."""
        total = 0.0
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def memory(self) -> Memory:
        """Return the current memory of each kind of process."""
        found = Memory(Counter(), Counter(), Counter(), Counter())
        parts: dict[str, Any] = {"Pss_Anon": found.own, "Pss_File": found.files, "Pss_Shmem": found.shared}
        for process in self.processes():
            with contextlib.suppress(psutil.Error, OSError):
                kind = next((kind for kind, mark in _MARKS.items() if mark in " ".join(process.cmdline())), "run")
                found.processes[kind] += 1
                for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]:
                    name, kibibytes, *_ = line.replace(":", "").split()
                    if name in parts:
                        parts[name][kind] += int(kibibytes) / 1024
        return found
