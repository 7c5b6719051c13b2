"""Runs the whole server as an operator would, `manage.py run`, on free loopback ports and with a new data directory."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final

import mastodon
import redis
from django.apps import apps

from social.runtime.embedded import Embedded
from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import PATIENCE, descendants, eventually, free_port, fresh_folder
from tests.support import kept_schema

ROOT = Path(__file__).resolve().parent.parent.parent
#: The parts that can be killed, and how their processes are found. The web worker is the child of "web" that responds.
PARTS: Final = {
    "postgres": "bin/postgres",
    "valkey": "valkey-server",
    "web": "social.runtime.serve\0web\0",
    "web worker": "social.runtime.serve\0web\0",
    "streaming": "social.runtime.serve\0streaming\0",
    "worker": "social.runtime.serve\0worker\0",
    "scheduler": "social.runtime.serve\0scheduler\0",
}
# The environment variable INSTANCE_SETTINGS contains further settings for all servers of a test run.
_OWN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "LOCAL_DOMAIN", "WEB_DOMAIN", "DATA_DIR")


class Instance:
    """A running server, used as a context manager; everything it started ends with it."""

    def __init__(self, **environment: str) -> None:
        self.port, self.streaming_port = free_port(), free_port()
        self.base_url = f"http://localhost:{self.port}"
        self.data_dir = fresh_folder()
        self.environment = {name: value for name, value in os.environ.items() if name not in _OWN}
        self.environment |= {
            "DATA_DIR": str(self.data_dir),
            "PORT": str(self.port),
            "STREAMING_PORT": str(self.streaming_port),
            "WEB_WORKERS": "1",
            "RATE_LIMITS": "off",
            "LOG_LEVEL": "warning",
            "DJANGO_SETTINGS_MODULE": os.environ.get("INSTANCE_SETTINGS", "social.settings.base"),
        } | environment
        self.process: subprocess.Popen[bytes] | None = None
        self.log = self.data_dir / "run.log"

    def __enter__(self) -> "Instance":
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def start(self, seconds: float = 3 * PATIENCE) -> float:
        """Start, wait until a request succeeds, and return how long that took, in seconds."""
        if apps.ready and "DATABASE_URL" not in self.environment and not (self.data_dir / "postgres").exists():
            self._fill_database()
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

    def _fill_database(self) -> None:
        """Create the cached tables, since applying all migrations takes longer than most tests."""
        generate_secrets(self.data_dir)
        servers = Embedded(self.data_dir, valkey_wanted=False)
        servers.start()
        try:
            kept_schema.fill(servers.postgres)
        finally:
            servers.stop()

    def stop(self) -> float:
        """Send SIGTERM, as an operator's Ctrl-C does, and return how long the stop took, in seconds."""
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
        """Return the output of `manage.py ARGUMENTS` on this server."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create_account(self, username: str, *more: str) -> dict[str, Any]:
        """Create a confirmed account with an access token through the operator's command."""
        arguments = ("--email", f"{username}@example.com", "--confirmed", "--token", "read write follow push")
        answer: dict[str, Any] = json.loads(self.manage("create_account", username, *arguments, *more))
        return answer

    def sign_up(self, username: str) -> mastodon.Mastodon:
        """Sign up a user through the API, and return a client; this is much faster than `create_account`."""
        scopes = ["read", "write", "follow", "push"]
        client_id, secret = mastodon.Mastodon.create_app("Tests", api_base_url=self.base_url, scopes=scopes)
        app = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=self.base_url)
        email = f"{username}@example.com"
        token = app.create_account(username, "correct horse battery", email, agreement=True, scopes=scopes)
        return mastodon.Mastodon(access_token=token, api_base_url=self.base_url)

    def redis(self) -> redis.Redis:
        """Return a connection to the server's Valkey, which serves all roles."""
        return redis.Redis.from_url(Embedded(self.data_dir).redis_url, socket_timeout=2)

    def part(self, name: str) -> int | None:
        """Return the process id of one of PARTS, or None if it does not run."""
        assert self.process is not None
        for pid in self._children():
            if PARTS[name] in _command_line(pid):
                return pid if name != "web worker" else min(descendants(pid), default=None)
        return None

    def _children(self) -> list[int]:
        assert self.process is not None
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == self.process.pid:
                    found.append(int(folder.name))
        return found

    def kill(self, name: str, seconds: float = 60.0) -> float:
        """Kill one of PARTS with SIGKILL, wait until its successor works, and return how long that took, in seconds."""
        pid = eventually(lambda: self.part(name), seconds)
        assert pid is not None
        killed_at = time.time()
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: self.part(name) not in (None, pid), seconds)
        eventually(lambda: self._works(name, killed_at), seconds)
        return time.time() - killed_at

    def wait_for(self, name: str, seconds: float = 60.0) -> None:
        """Wait until one of PARTS works: the worker starts after the web server."""
        eventually(lambda: self._works(name, 0.0), seconds)

    def _works(self, name: str, since: float) -> bool:
        if name in ("worker", "scheduler"):
            with contextlib.suppress(redis.RedisError):
                beat = self.redis().get(f"cache:heartbeat:{name}")
                return isinstance(beat, bytes) and int(beat) > since
            return False
        address = f"http://localhost:{self.streaming_port}/api/v1/streaming/health"
        if name != "streaming":
            address = f"{self.base_url}/health/ready"
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
        return False


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
