"""Tests of opening a socket, subscribing to streams, and closing."""

import json
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import quote

import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from accounts.models import User
from social.kernel import clock
from tests.factories.accounts import make_token
from tests.factories.statuses import make_status
from tests.runtime.processes import eventually
from tests.support.patience import SOON
from tests.timelines.conftest import Person, person, work
from tests.timelines.listeners import Socket, open_socket
from tests.timelines.server import StreamingServer, streaming_server
from timelines.consumers.registry import MAX_CONNECTIONS
from timelines.services.broadcasting import broadcast_notification, broadcast_to_account
from timelines.stores.messages import Event

pytestmark = pytest.mark.django_db(transaction=True)


def refusal(url: str, **options: Any) -> tuple[int, str | None, dict[str, Any]]:
    with pytest.raises(InvalidStatus) as refused, connect(url, open_timeout=60, **options):
        pass
    response = refused.value.response
    return response.status_code, response.headers.get("X-Error-Message"), json.loads(response.body or b"{}")


@pytest.mark.parametrize("how", ["query", "header", "protocol", "protocol and query"])
# clients.md, trap 44
def test_there_are_three_ways_to_send_the_token(server: StreamingServer, reader: Person, how: str) -> None:
    token, url, options = str(reader.api.token), server.ws, {}
    if "query" in how:
        url += f"?access_token={quote(token)}"
    if how == "header":
        options["additional_headers"] = {"Authorization": f"Bearer {token}"}
    if "protocol" in how:
        options["subprotocols"] = [token]
    with connect(url, open_timeout=60, **options) as socket:
        assert socket.subprotocol == (token if "protocol" in how else None)
        socket.send(json.dumps({"type": "subscribe", "stream": "nothing"}))
        assert json.loads(socket.recv(3)) == {"error": "Unknown stream type", "status": 400}


def test_an_upgrade_without_a_valid_token_fails_with_the_reason(server: StreamingServer, reader: Person) -> None:
    missing, invalid = "Missing access token", "Invalid access token"
    assert refusal(server.ws) == (401, missing, {"error": missing})
    assert refusal(f"{server.ws}?access_token=wrong") == (401, invalid, {"error": invalid})
    application = make_token(None, "read")
    assert refusal(f"{server.ws}?access_token={application}")[:2] == (401, invalid)
    User.objects.filter(id=reader.user.id).update(disabled_at=clock.now())
    assert refusal(f"{server.ws}?access_token={reader.api.token}")[:2] == (401, invalid)


@pytest.mark.verify
def test_client_errors_are_not_logged_as_errors(tmp_path: Path, reader: Person) -> None:
    log = tmp_path / "log"
    with streaming_server(log) as server:
        for _ in range(3):
            refusal(f"{server.ws}?access_token=wrong")
        for broken in (b"GARBAGE\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"):
            with create_connection(("127.0.0.1", server.port), SOON) as connection:
                connection.sendall(broken)
                assert connection.makefile("rb").read()
        with open_socket(server, reader) as socket:
            socket.socket.send(b"\xff", text=True)
            assert socket.is_closed(2) == 1007
    assert log.read_text() == ""


def test_a_socket_at_another_path_is_refused_in_json(server: StreamingServer, reader: Person) -> None:
    other = server.ws.replace("/streaming", "/nothing")
    assert refusal(f"{other}?access_token={reader.api.token}") == (404, "Not Found", {"error": "Not Found"})


@pytest.mark.parametrize("unusual", [f"X-Long: {'x' * 9000}\r\n", "X-Many: x\r\n" * 200])
def test_an_oversized_handshake_is_refused_and_its_connection_closed(server: StreamingServer, unusual: str) -> None:
    request = (
        "GET /api/v1/streaming HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\n{unusual}\r\n"
    )
    with create_connection(("127.0.0.1", server.port), SOON) as connection, connection.makefile("rb") as answer:
        connection.sendall(request.encode())
        head, _empty, body = answer.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body) == {"error": "Request Header Fields Too Large"}


def test_each_stream_checks_its_scopes(server: StreamingServer) -> None:  # security row 23 (scope bypass)
    scopes = {"error": "Access token does not have the required scopes", "status": 401}
    with Socket(server, person(scopes="write").api.token, stream="user") as socket:
        assert socket.next() == scopes
        for stream in ("public", "hashtag", "user:notification"):
            socket.say(type="subscribe", stream=stream, tag="x")
            assert socket.next() == scopes
    statuses_only = person(scopes="read:statuses")
    with open_socket(server, statuses_only, "user") as socket:
        socket.say(type="subscribe", stream="user:notification")
        assert socket.next() == scopes
        broadcast_notification(statuses_only.id, b'{"id":"1"}')
        broadcast_to_account(statuses_only.id, Event.FILTERS_CHANGED, None)
        assert socket.next() == {"stream": ["user"], "event": "filters_changed"}  # clients.md, trap 45


def test_notifications_are_sent_on_both_user_streams(server: StreamingServer, reader: Person) -> None:
    with open_socket(server, reader, "user") as socket:
        socket.say(type="subscribe", stream="user:notification")
        assert socket.is_silent()
        broadcast_notification(reader.id, b'{"id":"7"}')
        found = sorted(socket.next()["stream"][0] for _ in range(2))
        assert found == ["user", "user:notification"]


# clients.md, trap 43
def test_streams_can_be_added_and_removed_on_one_socket(server: StreamingServer, author: Person) -> None:
    with open_socket(server, author) as socket:
        for _ in range(2):  # the second subscription is ignored
            socket.say(type="subscribe", stream="hashtag", tag="Cats")
        socket.say(type="subscribe", stream="public:local")
        assert socket.is_silent(), "there is no acknowledgement"
        make_status(author.account, "#cats")
        work()
        assert sorted(socket.next()["stream"] for _ in range(2)) == [["hashtag", "Cats"], ["public:local"]]
        socket.say(type="unsubscribe", stream="hashtag", tag="Cats")
        socket.say(type="unsubscribe", stream="hashtag", tag="never subscribed")
        assert socket.is_silent()
        make_status(author.account, "#cats")
        work()
        assert socket.next()["stream"] == ["public:local"]
        assert socket.is_silent()


def test_a_hashtag_can_be_unsubscribed_in_any_spelling(server: StreamingServer, author: Person) -> None:
    with open_socket(server, author) as socket:
        socket.say(type="subscribe", stream="hashtag", tag="Cats")
        socket.say(type="unsubscribe", stream="hashtag", tag="cats")
        assert socket.is_silent()
        make_status(author.account, "#cats")
        work()
        assert socket.is_silent()


def test_unknown_commands_are_ignored_and_a_binary_message_closes_the_socket(
    server: StreamingServer, reader: Person
) -> None:
    with open_socket(server, reader) as socket:
        for nonsense in ("", "no json", "[]", "1", "{}", '{"type":"unsubscribe"}', '{"type":"sing","stream":"user"}'):
            socket.socket.send(nonsense)
        for nameless in ({}, {"stream": ""}, {"stream": 1}, {"stream": None}):
            socket.say(type="subscribe", **nameless)
            assert socket.next() == {"error": "Unknown stream type", "status": 400}
        socket.say(type="subscribe", stream="hashtag")
        assert socket.next() == {"error": "Missing tag name parameter", "status": 400}
        socket.socket.send(b"\x00")
        assert socket.is_closed(2) == 1003


@pytest.mark.parametrize("path", ["", "/", "/user", "/public/local"])
def test_sockets_are_accepted_with_or_without_a_path(server: StreamingServer, author: Person, path: str) -> None:
    with Socket(server, author.api.token, path) as socket:
        if not path.strip("/"):
            socket.say(type="subscribe", stream="user")
        assert socket.is_silent()
        make_status(author.account)
        work()
        assert socket.next()["stream"] == [path.strip("/").replace("/", ":") or "user"]


@pytest.mark.parametrize("path", ["//api/v1/streaming", "/api//v1/streaming//", "//api/v1/streaming//user"])
def test_several_slashes_in_a_path_count_as_one(server: StreamingServer, author: Person, path: str) -> None:
    """Clients append the path to the server's address, which may end with a slash."""
    address = f"{server.ws.removesuffix('/api/v1/streaming')}{path}?stream=user&access_token={author.api.token}"
    with connect(address, open_timeout=60) as socket:
        make_status(author.account)
        work()
        assert json.loads(socket.recv(SOON))["stream"] == ["user"]


@pytest.mark.verify
def test_clients_that_do_not_answer_pings_are_disconnected(
    django_db_setup: None, reader: Person, tmp_path: Path
) -> None:
    with streaming_server(tmp_path / "log", ping=0.3) as server, open_socket(server, reader, "user") as socket:
        pings: list[bytes] = []
        protocol = socket.socket.protocol
        original = protocol.recv_frame
        protocol.recv_frame = lambda frame: (pings.append(frame.data) if frame.opcode == 9 else None, original(frame))[
            1
        ]
        time.sleep(1.2)
        assert len(pings) >= 2
        assert socket.is_silent(), "a socket whose pings are answered stays open"


def test_row_65_the_length_of_names_and_hashtags_is_checked_before_they_are_normalised(
    server: StreamingServer, reader: Person
) -> None:
    with open_socket(server, reader) as socket:
        for kind in ("subscribe", "unsubscribe"):
            began = _cpu(server)
            for _number in range(20):
                socket.say(type=kind, stream="hashtag", tag="\ufdfa" * 8_000)
                assert socket.next() == {"error": "Missing tag name parameter", "status": 400}
                socket.say(type=kind, stream="hashtag" + "\ufdfa" * 8_000, tag="x")
                assert socket.next() == {"error": "Unknown stream type", "status": 400}
            assert _cpu(server) - began < 0.5
        socket.say(type="subscribe", stream="hashtag", tag="cats")
        assert socket.is_silent()


def test_row_65_the_number_of_sockets_of_a_token_is_limited(server: StreamingServer, reader: Person) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(open_socket(server, reader)) for _number in range(MAX_CONNECTIONS)]
        url = f"{server.ws}?access_token={reader.api.token}"
        status, _message, body = refusal(url)
        assert (status, body) == (429, {"error": "Too many connections with this access token"})
        with open_socket(server, person()) as other:
            assert other.is_silent()
        sockets[0].socket.close()

        def opens() -> bool:
            with suppress(InvalidStatus):
                stack.enter_context(open_socket(server, reader))
                return True
            return False

        eventually(opens, 3)


def _cpu(server: StreamingServer) -> float:
    spent = psutil.Process(server.process.pid).cpu_times()
    return float(spent.user + spent.system)
