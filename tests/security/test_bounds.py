"""Tests of limits per user and per address, not only per token or socket (security rows 69 and 70)."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count

import pytest
from websockets.exceptions import ConnectionClosed

from accounts.identity.services.tokens import TOKENS_LIMIT, issue_token
from accounts.models import AccessToken
from social.api.scopes import SCOPES
from tests.conformance.people import Person
from tests.support.client import Api
from tests.timelines.conftest import person, server
from tests.timelines.listeners import Socket, open_socket
from tests.timelines.server import StreamingServer
from timelines.consumers.registry import MAX_CONNECTIONS, MAX_FROM_ADDRESS, MAX_OF_ACCOUNT, ConnectionRegistry
from timelines.policies.streams import StreamError

__all__ = ["server"]

PROFILE = "/api/v1/accounts/verify_credentials"
READING = [scope for scope in SCOPES if scope.startswith("read:")]


@pytest.mark.django_db(transaction=True)
def test_row_69_tokens_per_user_and_application_are_limited_and_the_oldest_ends(alice: Person, bob: Person) -> None:
    application = AccessToken.objects.get(token=str(alice.api.token)).application
    others = issue_token(application=application, user=bob.user, scopes=["read"])
    before = AccessToken.objects.filter(user=alice.user, application=application).count()
    issued = [
        issue_token(application=application, user=alice.user, scopes=["profile", scope])
        for scope in READING[:TOKENS_LIMIT]
    ]
    again = issue_token(application=application, user=alice.user, scopes=["profile", READING[TOKENS_LIMIT - 1]])
    assert again == issued[-1]
    assert before + len(issued) > TOKENS_LIMIT
    assert alice.api.get(PROFILE).status_code == 401
    assert [Api(token.token).get(PROFILE).status_code for token in issued] == [200] * TOKENS_LIMIT
    issue_token(application=application, user=alice.user, scopes=["profile", READING[TOKENS_LIMIT]])
    assert [Api(token.token).get(PROFILE).status_code for token in issued[:2]] == [401, 200]
    assert Api(others.token).get(PROFILE).status_code == 200


@dataclass(eq=False)
class _Listening:
    token_id: int
    account_id: int
    address: str

    def end(self) -> None:
        """Do nothing: no connection has to be closed here."""

    async def review_access(self) -> None:
        """Do nothing: no stream has to be restricted here."""


def _enter(registry: ConnectionRegistry, connections: Iterator[_Listening]) -> int:
    """Return how many connections are accepted before one is refused."""
    for number, connection in enumerate(connections):
        try:
            registry.enter(connection)
        except StreamError:
            return number
    raise AssertionError("no connection was refused")


def test_row_69_sockets_are_counted_for_each_account_whatever_its_tokens() -> None:
    registry = ConnectionRegistry()
    first = _Listening(0, 7, "203.0.113.1")
    registry.enter(first)
    several = (_Listening(1 + number // (MAX_CONNECTIONS - 1), 7, f"2001:db8:{number:x}::1") for number in count())
    assert _enter(registry, several) == MAX_OF_ACCOUNT - 1
    registry.enter(_Listening(99, 8, "203.0.113.1"))
    registry.leave(first)
    registry.enter(_Listening(98, 7, "203.0.113.1"))


@pytest.mark.parametrize(
    ("pattern", "counted"), [("93.184.216.34", True), ("2001:470:1:2::{:x}", True), ("10.0.0.1", False)]
)
def test_row_69_sockets_are_counted_for_each_address(pattern: str, *, counted: bool) -> None:
    registry = ConnectionRegistry()
    many = (_Listening(number, number, pattern.format(number)) for number in range(2 * MAX_FROM_ADDRESS))
    if counted:
        assert _enter(registry, many) == MAX_FROM_ADDRESS
        registry.enter(_Listening(-1, -1, "93.184.216.35"))
        return
    # All clients have the address of a trusted proxy.
    for connection in many:
        registry.enter(connection)


@pytest.mark.django_db(transaction=True)
@pytest.mark.verify
def test_row_70_a_socket_that_sends_too_many_commands_is_closed_and_others_are_not(server: StreamingServer) -> None:
    with open_socket(server, person()) as socket, open_socket(server, person()) as other:
        assert _commands_until_closed(socket, 5000) > 100
        assert socket.is_closed(3) == 1008
        assert other.is_silent()


@pytest.mark.django_db(transaction=True)
def test_row_70_commands_are_counted_for_each_account_whatever_its_sockets(server: StreamingServer) -> None:
    someone = person()
    with ExitStack() as stack, open_socket(server, person()) as other:
        sockets = [stack.enter_context(open_socket(server, someone)) for _number in range(8)]
        taken = [_commands_until_closed(socket, 120) for socket in sockets]
        assert taken[0] == 120
        assert sockets[-1].is_closed(3) == 1008
        assert other.is_silent()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["pings", "pongs", "fragments"])
def test_row_70_pings_and_fragments_are_counted_for_each_socket(server: StreamingServer, kind: str) -> None:
    with open_socket(server, person()) as socket, open_socket(server, person()) as other:
        with suppress(ConnectionClosed):
            if kind == "fragments":
                socket.socket.send([""] * 2000)
            for _number in range(2000):
                (socket.socket.ping if kind == "pings" else socket.socket.pong)()
        assert socket.is_closed(3) == 1008
        for _number in range(100):
            other.socket.ping().wait(3)
        assert other.is_silent()


def _commands_until_closed(socket: Socket, most: int) -> int:
    """Return how many commands are answered before the socket is closed, at most `most`; each command names a stream that does
    not exist.
    """
    for number in range(most):
        try:
            assert socket.is_silent()
        except ConnectionClosed:
            return number
    return most
