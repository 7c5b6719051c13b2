"""Tests of event streams (SSE) over real sockets (contract, behaviours section 16; clients.md, trap 43)."""

import json
import socket
import time
import urllib.request
from urllib.error import HTTPError

import pytest

from accounts.identity.services.tokens import revoke_tokens
from accounts.models import AccessToken
from tests.factories.statuses import make_media, make_status
from tests.support.patience import SOON
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.listeners import EventStream
from tests.timelines.server import StreamingServer

pytestmark = pytest.mark.django_db(transaction=True)


def test_event_streams_begin_with_a_greeting_and_send_the_same_events(
    server: StreamingServer, reader: Person, author: Person
) -> None:
    follow(reader, author)
    with EventStream(server, "user", reader.api.token) as stream:
        assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
        assert stream.answer.headers["Access-Control-Allow-Origin"] == "*"
        assert stream.line() == ":)\n"
        status = make_status(author.account, "two\n\nlines")
        work()
        assert stream.line() == "event: update\n"
        data = stream.line()
        assert data.startswith("data: ")
        assert json.loads(data.removeprefix("data: "))["id"] == str(status.id)
        assert stream.line() == "\n"
        assert author.api.delete(f"/api/v1/statuses/{status.id}").status_code == 200
        work()
        assert [stream.line() for _ in range(3)] == ["event: delete\n", f"data: {status.id}\n", "\n"]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("public", {}),
        ("public/local", {}),
        ("public", {"only_media": "true"}),
        ("hashtag", {"tag": "x"}),
        ("hashtag/local", {"tag": "x"}),
    ],
)
def test_each_public_stream_has_its_own_path(
    server: StreamingServer, author: Person, path: str, query: dict[str, str]
) -> None:
    with EventStream(server, path, None, access_token=str(author.api.token), **query) as stream:
        assert stream.line() == ":)\n"
        make_status(author.account, "#x", media=[make_media(author.account)])
        work()
        assert stream.line() == "event: update\n"


def test_the_path_of_an_event_stream_may_have_slashes_too_many(server: StreamingServer, reader: Person) -> None:
    origin = server.http.removesuffix("/api/v1/streaming")
    wanted = urllib.request.Request(
        f"{origin}//api/v1/streaming//user/", headers={"Authorization": f"Bearer {reader.api.token}"}
    )
    with urllib.request.urlopen(wanted, timeout=SOON) as answer:
        assert answer.readline() == b":)\n"


def test_refused_event_streams_give_the_reason(server: StreamingServer, reader: Person) -> None:
    def refused(path: str, token: str | None, **query: str) -> tuple[int, dict[str, str]]:
        with pytest.raises(HTTPError) as error:
            EventStream(server, path, token, **query)
        return error.value.code, json.loads(error.value.read())

    token = reader.api.token
    assert refused("user", None) == (401, {"error": "Missing access token"})
    assert refused("user", "wrong") == (401, {"error": "Invalid access token"})
    scopes = {"error": "Access token does not have the required scopes"}
    assert refused("user", person(scopes="write").api.token) == (401, scopes)
    assert refused("nothing", token) == (400, {"error": "Unknown channel requested"})
    assert refused("hashtag", token) == (400, {"error": "Missing tag name parameter"})
    with pytest.raises(HTTPError) as elsewhere:
        urllib.request.urlopen(server.http.replace("streaming", "instance"))
    assert (elsewhere.value.code, json.loads(elsewhere.value.read())) == (404, {"error": "Not Found"})


def test_revoking_a_token_ends_its_event_streams_immediately(server: StreamingServer, reader: Person) -> None:
    with EventStream(server, "user", reader.api.token) as stream:
        assert stream.line() == ":)\n"
        started = time.monotonic()
        revoke_tokens(AccessToken.objects.filter(token=reader.api.token))
        assert stream.line() == ""
        assert time.monotonic() - started < SOON


def test_the_health_check_needs_no_token(server: StreamingServer) -> None:
    with urllib.request.urlopen(f"{server.http}/health") as answer:
        assert (answer.status, answer.read()) == (200, b"OK")
    preflight = urllib.request.Request(f"{server.http}/user", method="OPTIONS")
    with urllib.request.urlopen(preflight) as answer:
        assert answer.status == 204
        assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"\r\n",
    ],
)
def test_a_connection_gets_one_response_whatever_follows_the_request(server: StreamingServer, framing: bytes) -> None:
    request = b"GET /api/v1/streaming/health HTTP/1.1\r\nHost: x\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 60) as client:
        client.sendall(request + framing + request + b"\r\n")
        answer = b""
        while some := client.recv(65536):
            answer += some
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()
