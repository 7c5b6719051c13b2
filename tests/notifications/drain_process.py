"""A process that handles the events of notifications, for tests that kill it: `python -m tests.notifications.drain_process`."""

import os
import subprocess
import sys
import time
from urllib.parse import quote

#: Seconds until other processes claim the events of a killed process, and the number of events that a process claims at a time.
LEASE, BATCH = 1.5, 4


def start() -> subprocess.Popen[str]:
    """Start the process on the test's database; it prints "ready" when it begins."""
    from django.db import connection

    settings = connection.settings_dict
    url = f"postgres://{settings['USER']}@{quote(settings['HOST'], safe='')}/{settings['NAME']}"
    return subprocess.Popen(
        [sys.executable, "-m", "tests.notifications.drain_process"],
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> None:
    """Handle events in an endless loop."""
    import django

    django.setup()
    from social.kernel.outbox import drain

    print("ready", flush=True)
    while True:
        drain("notifications", BATCH, lease=LEASE)
        # Because of the pause, processes are killed several times before the queue is empty.
        time.sleep(0.05)


if __name__ == "__main__":
    main()
