"""A process that handles the events of notifications, for tests that kill it: `python -m tests.notifications.drain_process`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from urllib.parse import quote

#: Seconds after which others take what a killed process had in hand; and events that it takes at once.
LEASE, BATCH = 1.5, 4


def start() -> subprocess.Popen[str]:
    """Start it on the database of this test; it says "ready" when it begins."""
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
    """Handle the events for ever."""
    import django

    django.setup()
    from social.kernel.outbox import drain

    print("ready", flush=True)
    while True:
        drain("notifications", BATCH, lease=LEASE)
        # So slow that it is killed several times before everything is done.
        time.sleep(0.05)


if __name__ == "__main__":
    main()
