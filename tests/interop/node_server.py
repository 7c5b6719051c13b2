"""A server on Node, built with libraries that share nothing with this project: `server.mjs` in its own folder.

npm installs into `.tools` the libraries in the `package-lock.json` beside that file, and a new enough version of Node. If this
fails, the tests are skipped with the reason.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

import pytest
import requests

from tests.flows import people
from tests.flows.people import T
from tests.runtime.processes import ROOT, free_port

#: In seconds; the speed of the other server is not tested.
WAIT_SECONDS: Final = 30.0


def wait(look: Callable[[], T | None], seconds: float = WAIT_SECONDS) -> T:
    """Return the value of `look` as soon as it is true."""
    return people.wait(look, seconds)


def install(name: str) -> Path:
    """Return the folder with the libraries and Node, after installing missing versions; skip the test if that fails."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is not installed, so {name} cannot be installed")
    files, folder = Path(__file__).parent / name, ROOT / ".tools" / f"interop-{name}"
    names = ("package.json", "package-lock.json")
    mark = folder / hashlib.sha256(b"".join((files / each).read_bytes() for each in names)).hexdigest()[:16]
    if not mark.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for each in names:
            shutil.copy(files / each, folder)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {name} within five minutes")
        if done.returncode != 0:
            pytest.skip(f"npm could not install {name}: {done.stderr.strip()[:300]}")
        mark.touch()
    shutil.copy(files / "server.mjs", folder)
    return folder


def find_node(folder: Path) -> str:
    """Return the path of the Node that npm installed, or else of the machine's Node; skip the test if neither is new enough."""
    brought = sorted(folder.glob("node_modules/node-*/bin/node"))
    node = str(brought[0]) if brought else shutil.which("node")
    version = node and subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    if not version or int(version.removeprefix("v").partition(".")[0]) < 22:
        pytest.skip(f"Node 22 is needed, but the installed version is {version or 'none'}")
    return str(node)


class NodeServer:
    """A running server, used as a context manager; `arguments` are passed to it after the port."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name, self.arguments, self.port = name, arguments, free_port()
        self.url = f"http://localhost:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        folder = install(self.name)
        command = [find_node(folder), "server.mjs", str(self.port), *self.arguments]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
        try:
            wait(self._answers, 60)
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process is not None
        self.process.kill()  # SIGTERM would wait for open connections
        self.process.wait(10)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server built with {self.name} has ended"
        try:
            return requests.get(f"{self.url}/seen", timeout=5).ok
        except requests.ConnectionError:
            return False

    def seen(self) -> list[dict[str, Any]]:
        """Return the activities that were received with a valid signature, as the library represents them."""
        found: list[dict[str, Any]] = requests.get(f"{self.url}/seen", timeout=10).json()
        return found

    def do(self, **asked: Any) -> Any:
        """Let the server perform an action or answer a query, and return the result."""
        answer = requests.post(f"{self.url}/do", json=asked, timeout=30)
        found = answer.json()
        assert answer.ok, found["error"]
        return found
