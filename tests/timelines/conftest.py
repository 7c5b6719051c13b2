"""Fixtures for the tests of the timelines app."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest

from accounts.models import Account, User
from accounts.services.following import FollowChange, follow_account
from social.kernel import redis
from social.kernel.outbox import OutboxRow, drain
from tests.factories.accounts import ALL_SCOPES, make_token, make_user
from tests.support.client import Api
from tests.timelines.server import StreamingServer, streaming_server
from timelines.consumers.registry import ConnectionRegistry
from timelines.stores import feed


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    # A Redis server without the Lua scripts would drop all feeds when each script is first called, in the middle of a test.
    feed.drop_all()
    yield
    redis.circuit("feeds").close()
    redis.client("feeds").flushdb()


def work() -> None:
    """Run the jobs in the queue of this app, as a worker would; fail if a reaction fails."""
    while drain("feeds"):
        pass
    failed = OutboxRow.objects.filter(queue="feeds").exclude(last_error="").values_list("subscriber", "last_error")
    assert not list(failed), list(failed)


@dataclass
class Person:
    """A local user with a client."""

    user: User
    api: Api
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        self.account = self.user.account

    @property
    def id(self) -> int:
        return self.account.id


def person(username: str | None = None, scopes: str = ALL_SCOPES) -> Person:
    """Create a user with a token."""
    user = make_user(username)
    return Person(user, Api(make_token(user, scopes)))


@pytest.fixture
def reader() -> Person:
    return person()


@pytest.fixture
def author() -> Person:
    return person()


@pytest.fixture
def indexable(author: Person) -> Person:
    """A user whose public posts everyone can find by searching."""
    Account.objects.filter(id=author.id).update(indexable=True)
    author.account.refresh_from_db()
    return author


def follow(one: Person, other: Person) -> None:
    """Let `one` follow `other`, and run all reactions."""
    follow_account(account=one.account, target=other.account, change=FollowChange())
    work()


@pytest.fixture
def bea(ann: User) -> User:
    """A user whom Ann follows."""
    other = make_user("bea")
    follow_account(account=ann.account, target=other.account, change=FollowChange())
    return other


@pytest.fixture
async def registry() -> AsyncIterator[ConnectionRegistry]:
    """A running registry of streaming connections."""
    registry = ConnectionRegistry()
    registry.start()
    yield registry
    await registry.stop()


@pytest.fixture(scope="session")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamingServer]:
    with streaming_server(tmp_path_factory.mktemp("streaming") / "log") as running:
        yield running
