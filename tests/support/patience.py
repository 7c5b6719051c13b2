"""Helpers for tests that wait, whatever the speed of the machine: attempts are counted, and time limits are generous."""

import math
from typing import Final

import pytest

from social.kernel.circuits import Circuit

#: In seconds; many times as long as an immediate effect takes on a busy machine, but shorter than any sweep, retry or deadline.
SOON: Final = 15.0


def watch_circuits(monkeypatch: pytest.MonkeyPatch) -> list[Circuit]:
    """Return the list of circuits of failed attempts.

    An open circuit stays open, instead of being tried each second.
    """
    failed: list[Circuit] = []

    def note(circuit: Circuit) -> None:
        failed.append(circuit)
        circuit._open_until = math.inf

    monkeypatch.setattr(Circuit, "failed", note)
    return failed
