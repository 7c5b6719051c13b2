"""A process that drains the outbox, for tests that kill it.

Usage: `python -m tests.kernel.drain_process REACTION [database] [LEASE]`.
"""

import os
import subprocess
import sys
import time
from urllib.parse import quote


def start(reaction: str, *, database: bool, lease: float) -> subprocess.Popen[str]:
    """Start the process on the test's database; `reaction` is a name in tests.kernel.reactions."""
    from django.db import connection

    settings = connection.settings_dict
    url = f"postgres://{settings['USER']}@{quote(settings['HOST'], safe='')}/{settings['NAME']}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kernel.drain_process", reaction, "yes" if database else "no", str(lease)],
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> None:
    """Drain the default queue in an endless loop."""
    import django

    django.setup()
    from social.kernel.events import on
    from social.kernel.outbox import drain
    from tests.kernel import reactions

    on(reactions.Happened, getattr(reactions, sys.argv[1]), database=sys.argv[2] == "yes", seconds=1)
    lease = float(sys.argv[3])
    print("ready", flush=True)
    while True:
        if not drain("default", 50, lease=lease):
            time.sleep(0.02)


if __name__ == "__main__":
    main()
