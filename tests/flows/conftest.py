"""Fixtures with servers as operators run them, shared by tests that leave the servers intact."""

from collections.abc import Iterator

import pytest
import requests

from tests.federation.remote_server import ACTIVITY
from tests.flows.community import Community
from tests.flows.people import Person
from tests.support.instance import Instance


@pytest.fixture(scope="package")
def server() -> Iterator[Instance]:
    """A running server, which keeps the data of earlier tests."""
    with Instance() as running:
        yield running


@pytest.fixture(scope="module")
def community() -> Iterator[Community]:
    with Instance(REGISTRATIONS="approval", FEDERATION_LOOPBACK="yes") as running:
        yield Community(running)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Instance, Instance]]:
    with Instance(FEDERATION_LOOPBACK="yes") as one, Instance(FEDERATION_LOOPBACK="yes") as other:
        yield one, other


@pytest.fixture(scope="module")
def people(servers: tuple[Instance, Instance]) -> tuple[Person, Person]:
    """Two users on different servers, who follow each other."""
    anna, bob = Person(servers[0], "anna"), Person(servers[1], "bob")
    # The first response of a server is slow, and a sender whose key is still being fetched would retry after four seconds.
    for person in (anna, bob):
        document = f"{person.server.base_url}/users/{person.username}"
        assert requests.get(document, headers={"Accept": ACTIVITY}, timeout=60).status_code == 200
    anna.follow(bob)
    bob.follow(anna)
    return anna, bob


@pytest.fixture(params=["from the first to the second", "from the second to the first"])
def pair(request: pytest.FixtureRequest, people: tuple[Person, Person]) -> tuple[Person, Person]:
    """The author and the reader, in this order."""
    return people if "first to" in request.param else (people[1], people[0])


@pytest.fixture(params=["there", "back"])
def ends(request: pytest.FixtureRequest, servers: tuple[Instance, Instance]) -> tuple[Instance, Instance]:
    """The servers of the target account and of the acting account, in this order."""
    return servers if request.param == "there" else (servers[1], servers[0])
