"""Fixtures for the security tests: users, a remote server, and small servers to attack."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from tests.conformance.conftest import alice, bob, own_media
from tests.runtime.processes import eventually, free_port, running
from tests.security.small_client import Small

__all__ = ["alice", "bob", "own_media"]

if apps.is_installed("federation"):
    from tests.federation.conftest import elsewhere, zoe

    __all__ += ["elsewhere", "zoe"]
else:
    collect_ignore_glob = ["test_federation*.py", "test_keys.py"]


@pytest.fixture(scope="session")
def small_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A function that starts small servers, and reuses those with the same limits."""
    folder = tmp_path_factory.mktemp("web")
    file = folder / "file"
    file.write_bytes(os.urandom(2**20) * 7)
    started: dict[str, Small] = {}
    with contextlib.ExitStack() as stack:

        def start(**limits: Any) -> Small:
            given = json.dumps(limits)
            if given not in started:
                port = free_port()
                command = [sys.executable, "-m", "tests.security.small_server", str(port), str(file), given]
                process = stack.enter_context(running(command, folder / f"log{port}"))
                small = Small(port, process, Path(f"{file}{port}"))
                eventually(small.answers)
                started[given] = small
            return started[given]

        yield start


@pytest.fixture
def start(small_servers: Any) -> Iterator[Any]:
    """The function `start(**limits)`, which returns a small server; its connections are closed at the end of the test."""
    used: list[Small] = []

    def start(**limits: Any) -> Small:
        used.append(small_servers(**limits))
        return used[-1]

    yield start
    for small in used:
        small.close()
