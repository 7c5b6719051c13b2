"""Runs the whole server as an operator would, `manage.py run`, on free loopback ports and a data directory of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
_OWN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "LOCAL_DOMAIN", "WEB_DOMAIN", "DATA_DIR")


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Instance:
    """One running server. Use as a context manager; everything it started ends with it."""

    def __init__(self, **environment: str) -> None:
        self.port, self.streaming_port = free_port(), free_port()
        self.base_url = f"http://localhost:{self.port}"
        self.data_dir = Path(tempfile.mkdtemp(prefix="social-run-"))
        self.environment = {name: value for name, value in os.environ.items() if name not in _OWN}
        self.environment |= {
            "DATA_DIR": str(self.data_dir),
            "PORT": str(self.port),
            "STREAMING_PORT": str(self.streaming_port),
            "WEB_WORKERS": "1",
            "RATE_LIMITS": "off",
            "LOG_LEVEL": "warning",
        } | environment
        self.process: subprocess.Popen[bytes] | None = None
        self.log = self.data_dir / "run.log"

    def __enter__(self) -> Instance:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def start(self, seconds: float = 60.0) -> float:
        """Start and wait until a request is answered; returns how long that took, in seconds."""
        began = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while time.monotonic() - began < seconds:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.base_url}/api/v2/instance", timeout=5) as answer:
                    if answer.status == 200:
                        return time.monotonic() - began
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError(f"no answer from {self.base_url}:\n{self.log.read_text()[-4000:]}")

    def stop(self) -> float:
        """SIGTERM, as an operator's Ctrl-C; returns how long the stop took, in seconds."""
        if self.process is None or self.process.poll() is not None:
            return 0.0
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return time.monotonic() - began

    def manage(self, *arguments: str) -> str:
        """The output of `manage.py ARGUMENTS` on this server."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create_account(self, username: str, *more: str) -> dict[str, Any]:
        """A confirmed account with an access token, made by the operator's command."""
        arguments = ("--email", f"{username}@example.com", "--confirmed", "--token", "read write follow push")
        answer: dict[str, Any] = json.loads(self.manage("create_account", username, *arguments, *more))
        return answer
