"""The CPU time and the memory of all processes of a running server."""

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

#: Words in the command lines of the kinds of processes: the first match decides, and a process without a match is `run`.
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

    processes: Mapping[str, int]
    own: Mapping[str, float]
    files: Mapping[str, float]
    shared: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(sum(part.values()) for part in (self.own, self.files, self.shared))

    def __str__(self) -> str:
        lines = [f"{self.total:.0f} MiB"]
        for kind, count in sorted(self.processes.items()):
            parts = ((self.own, "own"), (self.files, "files"), (self.shared, "shared"))
            each = ", ".join(f"{name} {part[kind]:.0f}" for part, name in parts)
            lines.append(f"  {kind:11} {count:3}   {sum(part[kind] for part, _name in parts):5.0f} MiB ({each})")
        return "\n".join(lines)


class Tree:
    """A process and all its descendants, grouped by kind: web, worker, PostgreSQL, Valkey and so on."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)

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
        counts: Counter[str] = Counter()
        found: dict[str, Counter[str]] = {"Pss_Anon": Counter(), "Pss_File": Counter(), "Pss_Shmem": Counter()}
        for process in self.processes():
            with contextlib.suppress(psutil.Error, OSError):
                kind = next((kind for kind, mark in _MARKS.items() if mark in " ".join(process.cmdline())), "run")
                counts[kind] += 1
                for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()[1:]:
                    name, kibibytes, *_ = line.replace(":", "").split()
                    if name in found:
                        found[name][kind] += int(kibibytes)
        own, files, shared = ({kind: part[kind] / 1024 for kind in counts} for part in found.values())
        return Memory(counts, own, files, shared)
