"""The CPU time and the memory of a running server with all its processes."""

from __future__ import annotations

import contextlib

import psutil


class Tree:
    """A process and everything under it, named by kind: web, worker, PostgreSQL, Valkey and so on together."""

    def __init__(self, pid: int) -> None:
        self.root = psutil.Process(pid)

    def processes(self) -> list[psutil.Process]:
        """All of them, now."""
        return [self.root, *self.root.children(recursive=True)]

    def cpu(self) -> float:
        """CPU seconds used so far, ended children that were waited for included."""
        total = 0.0
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def memory(self) -> float:
        """MiB, shared pages divided between those who share them (PSS)."""
        total = 0
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
        return total / 2**20
