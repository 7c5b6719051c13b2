"""A server built with Fedify's libraries for Node: `fedify/server.mjs`."""

import time
from collections.abc import Callable
from typing import Any

import mastodon

from tests.flows import people
from tests.flows.people import Person
from tests.interop.node_server import WAIT_SECONDS, NodeServer, wait


class Fedify(NodeServer):
    """A running server; `first_tried` is the kind of signature that it tries first. `seen` also contains errors and refused
    signatures.
    """

    def __init__(self, first_tried: str) -> None:
        super().__init__("fedify", first_tried)
        self.first_tried = first_tried

    def arrived(self, kind: str, fits: Callable[[dict[str, Any]], Any] = bool) -> dict[str, Any]:
        """Return the last matching activity of this type, as soon as there is one."""

        def look() -> dict[str, Any] | None:
            found = self.seen()
            assert not [each for each in found if each["type"] in ("error", "unverified")], found
            return next((each for each in reversed(found) if each["type"] == kind and fits(each)), None)

        return wait(look)

    def person(self, name: str) -> "Someone":
        return Someone(self, name)


class Someone:
    """A user on Fedify's server."""

    def __init__(self, server: Fedify, name: str) -> None:
        self.server, self.name = server, name
        self.uri: str = self.do("person")["id"]
        self.address = f"{name}@localhost:{server.port}"

    def do(self, act: str, **more: Any) -> Any:
        """Let Fedify's server perform an action or answer a query, and return the result."""
        return self.server.do(act=act, **{"as": self.name}, **more)

    def lists(self) -> Any:
        """Return the followers, the pending requests, and the followed accounts with their states."""
        return self.do("lists")


def pause() -> None:
    """Wait long enough to notice an activity that must not arrive."""
    time.sleep(2)


def find(person: Person, other: Someone) -> Any:
    """Return the account of a user of Fedify's server on the local server, fetched if unknown."""
    (found,) = person.client.account_search(other.address, resolve=True)
    assert found.acct == other.address
    return found


def arrives(person: Person, text: str) -> Any:
    """Return the post with this text as soon as it is in the user's home timeline."""
    return people.arrives(person, text, WAIT_SECONDS)


def gone(person: Person, status_id: str) -> bool:
    """Return whether the post does not exist on the local server."""
    try:
        person.client.status(status_id)
    except mastodon.MastodonNotFoundError:
        return True
    return False
