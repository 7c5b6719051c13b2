"""How tests of waiting hold on any machine: attempts are counted, and where time must be looked at the limit is generous."""

from __future__ import annotations

import math
from typing import Final

import pytest

from social.kernel.circuits import Circuit

#: Seconds: many times what a busy machine takes for something that happens at once, a fraction of what the next sweep,
#: retry or deadline would take.
SOON: Final = 15.0


def watch_circuits(monkeypatch: pytest.MonkeyPatch) -> list[Circuit]:
    """The circuit of every attempt that failed. One that has opened stays open: by itself it would be tried each second."""
    failed: list[Circuit] = []

    def note(circuit: Circuit) -> None:
        failed.append(circuit)
        circuit._open_until = math.inf

    monkeypatch.setattr(Circuit, "failed", note)
    return failed
