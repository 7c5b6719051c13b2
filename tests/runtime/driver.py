"""A supervisor with harmless children, in a process of its own: `python -m tests.runtime.driver '[["a", "code"]]'`."""

from __future__ import annotations

import json
import sys

from social.runtime.console import Console
from social.runtime.processes import ProcessSpec
from social.runtime.supervisor import Supervisor


def main() -> None:
    """Every child is a piece of Python; its lines come out prefixed. Those called "beating" must give signs of life."""
    console = Console(colour=False)
    with Supervisor(console).listening() as supervisor:
        for name, code in json.loads(sys.argv[1]):
            silence = 1.5 if name.startswith("beating") else None
            supervisor.start(ProcessSpec(name, (sys.executable, "-u", "-c", code), silence=silence))
        supervisor.run()


main()
