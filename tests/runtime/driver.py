"""A supervisor with simple child processes: `python -m tests.runtime.driver '[["a", "code"]]'`."""

import argparse
import json
import signal
import sys
from typing import Any

from social.runtime.console import Console
from social.runtime.processes import ProcessSpec
from social.runtime.supervisor import Supervisor


class Patient(Supervisor):
    """A supervisor with a grace period that tests can set."""

    def __init__(self, console: Console, grace: float | None) -> None:
        super().__init__(console)
        self.terms: dict[str, Any] = {} if grace is None else {"grace": grace}

    def stop(self, **terms: Any) -> None:
        super().stop(**self.terms, **terms)


def main() -> None:
    """Run the Python code of each child, with prefixed output; children named "beating" must report regularly. `--grace` is the
    number of seconds after which children that do not end are killed.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("children", type=json.loads)
    parser.add_argument("--grace", type=float)
    options = parser.parse_args()
    console = Console(colour=False)
    with Patient(console, options.grace).listening() as supervisor:
        for name, code in options.children:
            silence = 1.5 if name.startswith("beating") else None
            # A reload restarts children named "ours", as it restarts this project's programs.
            reload_signal = signal.SIGTERM if name.startswith("ours") else 0
            command = (sys.executable, "-u", "-c", code)
            supervisor.start(ProcessSpec(name, command, silence=silence, reload_signal=reload_signal))
        supervisor.run()


main()
