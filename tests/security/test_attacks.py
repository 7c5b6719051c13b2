"""Tests of the attacks of security rows 49 to 52, 56 and 57 on the whole server: no other client has to wait."""

import contextlib
import io
import os
import resource
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from PIL import Image

from benchmarks.client import ApiError, Client
from tests.runtime.processes import eventually
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]
PATHS = ("/inbox", "/users/alice/inbox", "/auth/sign_in", "/auth/password", "/oauth/authorize", "/api/v1/statuses")


@pytest.fixture(scope="module")
def server() -> Iterator[Instance]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with Instance(WEB_WORKERS="2") as instance:
        file = instance.data_dir / "media" / "ab" / "large.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(7 * 2**20))
        yield instance


@pytest.fixture(scope="module")
def token(server: Instance) -> str:
    """A token of Alice, after each process has responded once, because the first request of a process is slow."""
    token = str(server.create_account("alice")["access_token"])
    for _number in range(20):
        Client(server.base_url, token).call("GET", "/api/v1/timelines/home")
    return token


@pytest.fixture
def attack(server: Instance) -> Iterator[Any]:
    """A function that opens a connection and sends bytes."""
    with contextlib.ExitStack() as stack:

        def connect(data: bytes = b"", receive: int = 0) -> socket.socket:
            client = stack.enter_context(socket.socket())
            if receive:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            client.settimeout(10)
            client.connect(("127.0.0.1", server.port))
            client.sendall(data)
            return client

        yield connect


def nobody_waits(server: Instance, token: str, requests: int = 20) -> None:
    """Check that reading and posting take less than a second each."""
    for number in range(requests):
        client = Client(server.base_url, token)
        began = time.monotonic()
        if number % 2:
            client.call("POST", "/api/v1/statuses", {"status": f"{number}", "visibility": "private"})
        else:
            client.call("GET", "/api/v1/timelines/home")
        assert time.monotonic() - began < 1
        client.connection.close()


def test_row_49_incomplete_http_2_requests_delay_nobody(server: Instance, token: str, attack: Any) -> None:
    block = b"\x83\x84\x86\x41\x01a"
    frames = (len(block).to_bytes(3, "big") + b"\1\4" + (1 + 2 * n).to_bytes(4, "big") + block for n in range(10))
    data = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" + b"".join(frames)
    for _number in range(6):
        attack(data).close()
    nobody_waits(server, token)


def test_row_50_bodies_sent_very_slowly_delay_nobody(server: Instance, token: str, attack: Any) -> None:
    head = "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 500\r\n"
    head += "Content-Type: application/json\r\n\r\n{{"
    clients = [attack(head.format(PATHS[number % 6], token).encode()) for number in range(40)]
    for _second in range(3):
        for client in clients:
            client.sendall(b" ")
        nobody_waits(server, token, 8)


def test_row_51_slow_readers_delay_nobody(server: Instance, token: str, attack: Any) -> None:
    for _number in range(40):
        attack(b"GET /system/ab/large.png HTTP/1.1\r\nHost: localhost\r\n\r\n", receive=2048)
    nobody_waits(server, token)
    with urllib.request.urlopen(f"{server.base_url}/system/ab/large.png", timeout=10) as answer:
        assert len(answer.read()) == 7 * 2**20


def test_row_52_idle_connections_delay_nobody(server: Instance, token: str, attack: Any) -> None:
    for number in range(1100):
        attack(b"GET / HT" if number % 2 else b"")
    nobody_waits(server, token)


def test_row_56_costly_pictures_delay_nobody(server: Instance, token: str) -> None:
    def saved(size: tuple[int, int]) -> bytes:
        file = io.BytesIO()
        Image.new("RGB", size, (9, 200, 3)).save(file, "PNG")
        return file.getvalue()

    def upload(data: bytes) -> int:
        try:
            Client(server.base_url, token).upload("/api/v2/media", data, "picture.png")
        except ApiError as error:
            return int(str(error).split(": ")[1].split()[0])
        return 200

    with ThreadPoolExecutor(20) as pool:
        for data, expected in ((saved((1, 33_177_600)), 422), (saved((5760, 5760)), 200)):
            uploads = [pool.submit(upload, data) for _number in range(20)]
            nobody_waits(server, token)
            assert {each.result() for each in uploads} == {expected}


def test_row_57_long_biographies_delay_nobody(server: Instance, token: str) -> None:
    def change() -> None:
        with pytest.raises(ApiError, match="422"):
            Client(server.base_url, token).call(
                "PATCH", "/api/v1/accounts/update_credentials", {"note": "@a " * 300_000}
            )

    with ThreadPoolExecutor(16) as pool:
        changes = [pool.submit(change) for _number in range(16)]
        nobody_waits(server, token)
        for each in changes:
            each.result()


@pytest.mark.parametrize(("part", "seconds"), [("web worker", 20), ("streaming", 65), ("valkey", 90), ("postgres", 90)])
def test_row_49_a_hanging_process_is_replaced(server: Instance, token: str, part: str, seconds: float) -> None:
    pid = server.part(part)
    assert pid is not None
    time.sleep(12)  # wait for the first heartbeat of the process, which has just started
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: server.part(part) not in (None, pid), seconds)

    def works() -> bool:
        with contextlib.suppress(ApiError, OSError):
            nobody_waits(server, token, 2)
            return True
        return False

    eventually(works)


def test_only_the_hung_process_was_replaced(server: Instance) -> None:
    log = server.log.read_text()
    assert log.count("gives no sign of life") == 3
    assert log.count("sends no heartbeats and is replaced") == 1
    assert "Traceback" not in log.split("gives no sign of life")[0]
