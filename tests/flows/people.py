"""Users on local servers, and functions that wait for their actions to arrive."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.support.instance import Instance

T = TypeVar("T")
#: In seconds. An action normally arrives within a few tenths of a second. It takes two to seven seconds if a worker's
#: notification is lost and only the periodic check finds the job, and sixteen if a delivery fails; both must make the test
#: fail.
SECONDS = 5.0
#: Unfollowing takes longer: it is delivered after a delay of two seconds, and only the periodic check finds jobs with a delay.
UNFOLLOWED_SECONDS = 20.0


class Person:
    """A user with a client on one of the servers."""

    def __init__(self, server: Instance, username: str) -> None:
        self.server = server
        self.client = server.sign_up(username)
        self.username = username
        self.address = f"{username}@localhost:{server.port}"

    def find(self, other: "Person") -> Any:
        """Return the other user's account on this user's server, fetched if unknown."""
        found = self.client.account_search(other.address, resolve=True)
        assert [account.acct for account in found] == [self.name_of(other)]
        return found[0]

    def name_of(self, other: "Person") -> str:
        """Return the other user's address, as this user's server writes it."""
        return other.username if other.server is self.server else other.address

    def home(self) -> list[Any]:
        return list(self.client.timeline_home(limit=40))

    def follow(self, other: "Person") -> Any:
        account = self.find(other)
        self.client.account_follow(account.id)
        # The limit is longer, because servers without earlier contact fetch each other's documents first, and a first
        # delivery may fail and be retried; neither is tested here.
        wait(lambda: self.client.account_relationships(account.id)[0].following and account, UNFOLLOWED_SECONDS)
        wait(lambda: other.client.account_relationships(other.find(self).id)[0].followed_by, UNFOLLOWED_SECONDS)
        return account

    def me(self) -> Any:
        return self.client.me().id

    def notifications(self, kind: str) -> list[Any]:
        return [item for item in self.client.notifications(limit=80) if item.type == kind]


def wait(look: Callable[[], T | None], seconds: float = SECONDS) -> T:
    """Return the value of `look` as soon as it is true."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < deadline, "the action did not arrive in time"
        time.sleep(0.1)


def arrives(person: Person, text: str, seconds: float = SECONDS) -> Any:
    """Return the post with this text as soon as it is in the user's home timeline."""
    return wait(lambda: next((status for status in person.home() if text in status.content), None), seconds)
