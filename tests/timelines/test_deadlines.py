"""Who connects to the streaming server and asks for nothing is disconnected (contract, behaviours section 16)."""

from __future__ import annotations

import itertools
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
    """Whether the server ends the connection while bytes of `drip` are sent, one each tenth of a second."""
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


def test_connections_without_a_complete_request_end_and_streams_do_not(
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
