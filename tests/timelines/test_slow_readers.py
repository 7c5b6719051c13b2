"""Tests of clients that do not read: they take limited memory, are disconnected, and do not affect others."""

import socket
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from social.kernel import streams
from tests.runtime.processes import eventually
from tests.timelines.conftest import Person
from tests.timelines.listeners import EventStream, open_socket
from tests.timelines.server import StreamingServer, streaming_server
from timelines.consumers.connection import QUEUE_SIZE
from timelines.stores import channels
from timelines.stores.messages import Event, Message

pytestmark = pytest.mark.django_db(transaction=True)

SIZE = 8 * 1024
"""The size of an event in bytes, so large that the maximum number of queued events exceeds the buffers of a connection."""

READERS_PER_ROUND = 32
MANY = 16 * QUEUE_SIZE


def connect(server: StreamingServer, someone: Person, *, upgrade: bool) -> socket.socket:
    """Connect a client with a small receive window, which is subscribed and reads only when the test reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect(("127.0.0.1", server.port))
    path, headers = "/public?", ""
    if upgrade:
        path = "?stream=public&"
        headers = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        headers += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    url = f"/api/v1/streaming{path}access_token={someone.api.token}"
    client.sendall(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
    read_to(client, b"\r\n\r\n")
    if upgrade:
        # A subscription to an unknown stream, in a masked frame: its error is sent after the first subscription.
        client.sendall(b"\x81\xa2" + bytes(4) + b'{"type":"subscribe","stream":"no"}')
    read_to(client, b'"status":400}' if upgrade else b":)\n")
    return client


def read_to(client: socket.socket, end: bytes) -> None:
    read = b""
    while not read.endswith(end):
        more = client.recv(1)
        assert more, read
        read += more


def publish(number: int) -> None:
    streams.publish(channels.PUBLIC_LOCAL, Message(Event.UPDATE, b'"%06d%s"' % (number, b"x" * SIZE)).encode())


@pytest.mark.verify
def test_clients_that_do_not_read_are_disconnected_and_others_get_all_events(tmp_path: Path, reader: Person) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(streaming_server(tmp_path / "log", abort=0.5, traced=True))
        process = psutil.Process(server.process.pid)
        quick = stack.enter_context(open_socket(server, reader, "public"))
        events = stack.enter_context(EventStream(server, "public", str(reader.api.token)))
        assert events.line() == ":)\n"
        before = process.num_fds()

        def publish_and_read(numbers: range) -> None:
            for number in numbers:
                publish(number)
            for number in numbers:
                payload = quick.next()["payload"]
                assert payload.startswith(f'"{number:06}')
                # On a slow machine, heartbeats arrive in between.
                assert next(line for line in iter(events.line, "") if line != ":thump\n") == "event: update\n"
                assert events.line() == f"data: {payload}\n"
                assert events.line() == "\n"

        publish_and_read(range(READERS_PER_ROUND))
        slow = [connect(server, reader, upgrade=kind) for kind in (True, True, False, False)]
        server.most_memory()
        idle = server.most_memory()
        for first in range(READERS_PER_ROUND, MANY, READERS_PER_ROUND):
            publish_and_read(range(first, first + READERS_PER_ROUND))
        # Each queued event is stored in a few encoded forms; without a limit all events would be queued.
        taken = server.most_memory() - idle
        assert taken < 8 * QUEUE_SIZE * SIZE, "the queue for a client that does not read is limited"
        assert eventually(lambda: process.num_fds() == before), "clients that do not read are disconnected"
        publish_and_read(range(MANY, MANY + 1))
        for client in slow:
            client.close()


@pytest.mark.verify
def test_a_client_that_reads_in_time_gets_the_reason_for_the_close(server: StreamingServer, reader: Person) -> None:
    client = connect(server, reader, upgrade=True)
    for number in range(2 * QUEUE_SIZE):
        publish(number)
    data = b""
    try:
        while more := client.recv(1 << 16):
            data += more
    except ConnectionResetError:
        pass
    client.close()
    assert data.endswith(b"\x88\x02" + (1013).to_bytes(2)), data[-20:]
