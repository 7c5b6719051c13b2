"""Fixtures: a hostile server, and a client that may connect to it."""

from collections.abc import Iterator

import pytest

from social.kernel.http.client import GuardedClient, Policy
from tests.kernel.http.attacker import Attacker


@pytest.fixture
def attacker() -> Iterator[Attacker]:
    with Attacker() as server:
        yield server


@pytest.fixture
def client() -> Iterator[GuardedClient]:
    """A client configured for a trial on one machine: loopback addresses, http and all ports are allowed."""
    client = GuardedClient(Policy(loopback=True, user_agent="Social/test (+https://social.example)"))
    yield client
    client.close()
