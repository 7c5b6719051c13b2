"""Helpers for tests that wait and must pass on slow machines too: attempts are counted, and time limits are generous."""

import math
from typing import Final

import pytest

from social.kernel.circuits import Circuit

#: In seconds; many times as long as an immediate effect takes on a busy machine, but shorter than any periodic job, retry or
#: deadline.
SOON: Final = 15.0


def watch_circuits(monkeypatch: pytest.MonkeyPatch) -> list[Circuit]:
    """Return a list to which the circuit breaker of each failed attempt is added.

    A circuit breaker that has opened stays open, instead of allowing an attempt each second.
    """
    failed: list[Circuit] = []

    def note(circuit: Circuit) -> None:
        failed.append(circuit)
        circuit._open_until = math.inf

    monkeypatch.setattr(Circuit, "failed", note)
    return failed
