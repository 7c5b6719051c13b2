"""Fixtures for the tests of federation."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from accounts.models import Account
from federation.remote.actors import fetch_actor
from social.kernel.http.limits import web_request_budget
from tests.factories import accounts
from tests.factories.statuses import follow
from tests.federation.remote_server import RemotePerson, RemoteServer

accounts.rsa_pair()


@pytest.fixture(autouse=True)
def collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the collections of posts and followed accounts out of actor documents, so that no test waits until they have been
    fetched for its accounts. Tests of these collections override this fixture.
    """
    monkeypatch.setattr(RemotePerson, "collections", ())


@pytest.fixture
def elsewhere(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteServer]:
    """Another server on this machine, which this server may call."""
    settings.FEDERATION_LOOPBACK = True
    # A busy machine must not count as an unreachable server.
    monkeypatch.setattr("federation.remote.signers.DEADLINE", 60.0)
    monkeypatch.setattr("social.api.middleware.web_request_budget", partial(web_request_budget, 60.0))
    with RemoteServer().running() as server:
        yield server


@pytest.fixture
def third(elsewhere: RemoteServer) -> Iterator[RemoteServer]:
    """A third server, in addition to this one and `elsewhere`."""
    with RemoteServer().running() as server:
        yield server


@pytest.fixture
def zoe(elsewhere: RemoteServer) -> RemotePerson:
    return elsewhere.person("zoe")


@pytest.fixture
def zoe_here(zoe: RemotePerson, alice: Account) -> Account:
    """Zoe's account as it is stored here; she follows Alice."""
    account = fetch_actor(zoe.uri)
    follow(account, alice, uri=f"{zoe.uri}#follows/1")
    return account
