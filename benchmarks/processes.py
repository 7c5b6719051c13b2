"""The CPU time and the memory of a running server with all its processes."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

#: What stands in the command line of a kind of process; the first that does decides, and whoever has none is `run`.
_MARKS: Final = {
    "Valkey": "valkey-server",  # before the other, in whose folder its socket is
    "PostgreSQL": "postgres",
    "decoder": "media.decoding",
    **{name: f"social.runtime.serve {name}" for name in ("web", "streaming", "worker", "scheduler")},
}


@dataclass(frozen=True)
class Memory:
    """MiB by kind of process; shared pages are divided among the processes that share them (PSS).

    `own` is memory that the processes have written themselves, `files` is memory mapped from programs and libraries, `shared`
    is memory that PostgreSQL's processes share.
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
    """A process and everything under it, named by kind: web, worker, PostgreSQL, Valkey and so on together."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)

    def processes(self) -> list[psutil.Process]:
        return [self.root, *self.root.children(recursive=True)]

    def cpu(self) -> float:
        """CPU seconds used so far, ended children that were waited for included."""
        total = 0.0
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def memory(self) -> Memory:
        """What each kind of process has now."""
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
