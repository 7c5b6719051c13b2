"""People on servers of ours, and what they wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.support.instance import Instance

T = TypeVar("T")
#: Everything here takes a few tenths of a second. A wake-up that is lost and made good by the sweep takes two to seven
#: seconds, a delivery that failed once sixteen: neither is to pass for normal.
SECONDS = 5.0
#: But for the end of a follow: it is sent two seconds later, and what has a due time is found by the sweep.
UNFOLLOWED_SECONDS = 20.0


class Person:
    """Somebody with a client on one of the servers."""

    def __init__(self, server: Instance, username: str) -> None:
        self.server = server
        self.client = server.sign_up(username)
        self.username = username
        self.address = f"{username}@localhost:{server.port}"

    def find(self, other: Person) -> Any:
        """The other person, as this one's server knows them, asked for if unknown."""
        found = self.client.account_search(other.address, resolve=True)
        assert [account.acct for account in found] == [self.name_of(other)]
        return found[0]

    def name_of(self, other: Person) -> str:
        """The other person's address, as this one's server writes it."""
        return other.username if other.server is self.server else other.address

    def home(self) -> list[Any]:
        return list(self.client.timeline_home(limit=40))

    def follow(self, other: Person) -> Any:
        account = self.find(other)
        self.client.account_follow(account.id)
        # Two who meet ask for each other's documents first, and one failed delivery is not what is tested here.
        wait(lambda: self.client.account_relationships(account.id)[0].following and account, UNFOLLOWED_SECONDS)
        wait(lambda: other.client.account_relationships(other.find(self).id)[0].followed_by, UNFOLLOWED_SECONDS)
        return account

    def me(self) -> Any:
        return self.client.me().id

    def notifications(self, kind: str) -> list[Any]:
        return [item for item in self.client.notifications(limit=80) if item.type == kind]


def wait(look: Callable[[], T | None], seconds: float = SECONDS) -> T:
    """What `look` sees, as soon as it is something."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < deadline, "it did not arrive"
        time.sleep(0.1)


def arrives(person: Person, text: str, seconds: float = SECONDS) -> Any:
    """The post with this text, once it stands in the person's home timeline."""
    return wait(lambda: next((status for status in person.home() if text in status.content), None), seconds)
