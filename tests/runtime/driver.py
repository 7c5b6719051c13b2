"""A supervisor with harmless children, in a process of its own: `python -m tests.runtime.driver '[["a", "code"]]'`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any

from social.runtime.console import Console
from social.runtime.processes import ProcessSpec
from social.runtime.supervisor import Supervisor


class Patient(Supervisor):
    """With another grace."""

    def __init__(self, console: Console, grace: float | None) -> None:
        super().__init__(console)
        self.terms: dict[str, Any] = {} if grace is None else {"grace": grace}

    def stop(self, **terms: Any) -> None:
        """End everything."""
        super().stop(**self.terms, **terms)


def main() -> None:
    """Every child is a piece of Python; its lines come out prefixed. Those called "beating" must give signs of life.

    `--grace`: the seconds children have to end when asked to, instead of the supervisor's own.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("children", type=json.loads)
    parser.add_argument("--grace", type=float)
    options = parser.parse_args()
    console = Console(colour=False)
    with Patient(console, options.grace).listening() as supervisor:
        for name, code in options.children:
            silence = 1.5 if name.startswith("beating") else None
            # As programs of ours do, those called "ours" end to be started again by a reload.
            reload_signal = signal.SIGTERM if name.startswith("ours") else 0
            command = (sys.executable, "-u", "-c", code)
            supervisor.start(ProcessSpec(name, command, silence=silence, reload_signal=reload_signal))
        supervisor.run()


main()
