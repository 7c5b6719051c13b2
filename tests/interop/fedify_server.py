"""A server made of Fedify's libraries for Node: `fedify/server.mjs`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mastodon

from tests.flows import people
from tests.flows.people import Person
from tests.interop.node_server import WAIT_SECONDS, NodeServer, wait


class Fedify(NodeServer):
    """One running server; `first_tried` is the kind of signatures that it tries first. Errors and refused signatures are among
    what was seen.
    """

    def __init__(self, first_tried: str) -> None:
        super().__init__("fedify", first_tried)
        self.first_tried = first_tried

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
        return self.server.do(act=act, **{"as": self.name}, **more)

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
