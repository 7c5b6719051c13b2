"""The real Celery application, in a process that has also imported the reactions of the tests."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from celery import signals

from social.celery import app

__all__ = ["app", "start"]


@signals.worker_init.connect
def _subscribe(**_: Any) -> None:
    from social.kernel.subscriptions import on
    from tests.kernel import reactions

    on(reactions.Happened, reactions.write, database=True)


def start(redis_url: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Start `celery -A <this> *arguments` on the test's database and the given Redis, and return the process and its log."""
    from django.db import connection

    settings = connection.settings_dict
    url = f"postgres://{settings['USER']}@{quote(settings['HOST'], safe='')}/{settings['NAME']}"
    log = Path(tempfile.mkstemp(prefix="celery-", suffix=".log")[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "tests.kernel.worker", *arguments],
        env={**os.environ, "DATABASE_URL": url, "REDIS_URL": redis_url, "LOG_LEVEL": "info"},
        stdout=subprocess.DEVNULL,
        stderr=log.open("wb"),
    )
    return process, log


def wait_for(log: Path, text: str, seconds: float = 90) -> None:
    """Wait until the log of a process contains the text."""
    deadline = time.monotonic() + seconds
    while text not in log.read_text(errors="replace"):
        assert time.monotonic() < deadline, log.read_text(errors="replace")
        time.sleep(0.05)
