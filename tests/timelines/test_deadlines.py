"""Tests that idle connections to the streaming server are closed (contract, behaviours section 16)."""

import itertools
import json
import socket
from pathlib import Path

import pytest

from tests.factories.statuses import make_status
from tests.support.patience import SOON
from tests.timelines.conftest import Person, work
from tests.timelines.listeners import EventStream
from tests.timelines.server import StreamingServer, streaming_server

pytestmark = pytest.mark.django_db(transaction=True)
HEALTH = b"GET /api/v1/streaming/health HTTP/1.1\r\nHost: localhost\r\n"


def connect(server: StreamingServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), SOON)


def is_ended(connection: socket.socket, drip: bytes = b"") -> bool:
    """Return whether the server closes the connection while the bytes of `drip` are sent, one every tenth of a second."""
    connection.settimeout(0.1)
    for place in itertools.count():
        try:
            if drip:
                connection.send(drip[place % len(drip) :][:1])
            if not connection.recv(1024):
                return True
        except TimeoutError:
            if place * 0.1 > SOON:
                return False
        except ConnectionError:
            return True
    return False


_POST = b"POST /api/v1/streaming/health HTTP/1.1\r\nHost: localhost\r\n"
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (HEALTH.replace(b"/1.1", b"/2.0") + b"\r\n", 400),
        (HEALTH.replace(b"health", b"health#x") + b"\r\n", 400),
        (HEALTH.replace(b"localhost", b"a b/c@d") + b"\r\n", 400),
        (HEALTH.replace(b"\r\n", b"\n") + b"\n", 400),
        (HEALTH + b"X: a\r\n b\r\n\r\n", 400),
        (HEALTH + b"X: " + b"x" * 40_000 + b"\r\n\r\n", 431),
        (HEALTH + b"X: y\r\n" * 200 + b"\r\n", 431),
        (HEALTH + b"X: " + b"x" * 100_000, 431),
        (_POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (_POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        (_POST.replace(b"/1.1", b"/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (_CHUNKED + b"zz\r\n", 400),
        (_CHUNKED + b"1\r\nab\r\n", 400),
        (_CHUNKED + b"1\na\r\n0\r\n\r\n", 400),
    ],
)
def test_malformed_requests_are_refused_in_json_and_nothing_after_them_is_read(
    server: StreamingServer, request_: bytes, status: int
) -> None:
    with connect(server) as connection:
        connection.sendall(request_ + HEALTH + b"\r\n")
        head, _empty, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert list(json.loads(body)) == ["error"]


def test_only_the_first_of_several_requests_on_a_connection_is_answered(server: StreamingServer) -> None:
    with connect(server) as connection:
        connection.sendall((HEALTH + b"\r\n") * 2000)
        assert connection.makefile("rb").read().count(b"HTTP/1.1") == 1


@pytest.mark.verify
def test_connections_without_a_complete_request_time_out_and_streams_do_not(
    tmp_path: Path, reader: Person, author: Person
) -> None:
    with (
        streaming_server(tmp_path / "log", request=0.6) as server,
        EventStream(server, "public", reader.api.token) as stream,
    ):
        assert stream.line() == ":)\n"
        with connect(server) as silent:
            assert is_ended(silent)
        with connect(server) as dripping:
            assert is_ended(dripping, b"GET /api/v1/streaming/" + b"x" * 1000)
        with connect(server) as idle:
            idle.sendall(HEALTH + b"\r\n")
            assert b"OK" in idle.recv(1024)
            assert is_ended(idle, b"GET /api/v1/streaming/" + b"x" * 1000)
        with connect(server) as body:
            body.sendall(HEALTH + b"Content-Length: 100000\r\n\r\n")
            assert is_ended(body, b"x" * 1000)
        make_status(author.account)
        work()
        assert stream.line() == "event: update\n"
