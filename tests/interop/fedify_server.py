"""A server made of Fedify's libraries for Node, which has nothing in common with ours: `fedify/server.mjs`.

Its parts come from npm, as `fedify/package-lock.json` names them, with a Node that is new enough; they are kept in
`.tools/interop`. Where they cannot be had, the tests are skipped and say why.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import mastodon
import pytest
import requests

from tests.flows import people
from tests.flows.people import Person, T
from tests.support.instance import ROOT, free_port

FILES: Final = Path(__file__).parent / "fedify"
FOLDER: Final = ROOT / ".tools" / "interop"
#: In contrast to two servers of ours, nothing is said here of how quick the other side is.
WAIT_SECONDS: Final = 30.0


def wait(look: Callable[[], T | None], seconds: float = WAIT_SECONDS) -> T:
    """What `look` sees, as soon as it is something."""
    return people.wait(look, seconds)


def install() -> Path:
    """The folder with Fedify and Node, installed unless these very versions are there. Skips the test where that fails."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: there is nothing to install Fedify with")
    names = ("package.json", "package-lock.json")
    mark = FOLDER / hashlib.sha256(b"".join((FILES / name).read_bytes() for name in names)).hexdigest()[:16]
    if not mark.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        for name in names:
            shutil.copy(FILES / name, FOLDER)
        command = [npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not install Fedify within five minutes")
        if done.returncode != 0:
            pytest.skip(f"npm could not install Fedify: {done.stderr.strip()[:300]}")
        mark.touch()
    shutil.copy(FILES / "server.mjs", FOLDER)
    return FOLDER


def find_node(folder: Path) -> str:
    """Node as npm brought it, or the machine's own where that is new enough for Fedify. Skips the test without either."""
    brought = sorted(folder.glob("node_modules/node-*/bin/node"))
    node = str(brought[0]) if brought else shutil.which("node")
    version = node and subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    if not version or int(version.removeprefix("v").partition(".")[0]) < 22:
        pytest.skip(f"Fedify needs Node 22, and there is {version or 'none'}")
    return str(node)


class Fedify:
    """One running server. Use as a context manager; `first_tried` is the kind of signatures that it tries first."""

    def __init__(self, first_tried: str) -> None:
        self.port, self.first_tried = free_port(), first_tried
        self.url = f"http://localhost:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Fedify:
        folder = install()
        command = [find_node(folder), "server.mjs", str(self.port), self.first_tried]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
        try:
            wait(self._answers, 60)
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process is not None
        self.process.kill()  # it would wait for connections to be closed
        self.process.wait(10)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "Fedify's server has ended"
        try:
            return requests.get(f"{self.url}/seen", timeout=5).ok
        except requests.ConnectionError:
            return False

    def seen(self) -> list[dict[str, Any]]:
        """What was received with a signature that holds, in Fedify's words; errors and refused signatures among it."""
        found: list[dict[str, Any]] = requests.get(f"{self.url}/seen", timeout=10).json()
        return found

    def arrived(self, kind: str, fits: Callable[[dict[str, Any]], Any] = bool) -> dict[str, Any]:
        """The last activity of this type that fits, as soon as there is one."""

        def look() -> dict[str, Any] | None:
            found = self.seen()
            assert not [each for each in found if each["type"] in ("error", "unverified")], found
            return next((each for each in reversed(found) if each["type"] == kind and fits(each)), None)

        return wait(look)

    def person(self, name: str) -> Someone:
        """Somebody on this server."""
        return Someone(self, name)


class Someone:
    """Somebody on Fedify's server."""

    def __init__(self, server: Fedify, name: str) -> None:
        self.server, self.name = server, name
        self.uri: str = self.do("person")["id"]
        self.address = f"{name}@localhost:{server.port}"

    def do(self, act: str, **more: Any) -> Any:
        """Have an act done, or a question answered, by Fedify's server."""
        answer = requests.post(f"{self.server.url}/do", json={"act": act, "as": self.name} | more, timeout=30)
        found = answer.json()
        assert answer.ok, found["error"]
        return found

    def lists(self) -> Any:
        """Followers, waiting requests, and whom this one follows with the state of that."""
        return self.do("lists")


def pause() -> None:
    """A moment in which what must not arrive would arrive."""
    time.sleep(2)


def find(person: Person, other: Someone) -> Any:
    """Somebody of Fedify's server, as ours knows them, asked for if unknown."""
    (found,) = person.client.account_search(other.address, resolve=True)
    assert found.acct == other.address
    return found


def arrives(person: Person, text: str) -> Any:
    """The post with this text, once it stands in the person's home timeline."""
    return people.arrives(person, text, WAIT_SECONDS)


def gone(person: Person, status_id: str) -> bool:
    """Whether our server has no such post any more."""
    try:
        person.client.status(status_id)
    except mastodon.MastodonNotFoundError:
        return True
    return False
