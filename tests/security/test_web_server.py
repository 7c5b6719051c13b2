"""Strangers do not stop the web server (security.md rows 49 to 52, 56): a real server process, real sockets on loopback.

The application is a small one: none of this depends on what answers. `test_attacks.py` plays the same against the whole server.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.processes import PATIENCE, Running, descendants, eventually, running
from tests.support.instance import free_port

FILE_SIZE = 7 * 2**20
#: Limits under which nothing that is held ends within PATIENCE: whoever is answered meanwhile did not wait for it.
ENDLESS = dict.fromkeys(("body_grace", "body_longest", "read_window", "head_seconds"), 100 * PATIENCE)


class Small:
    """A running small server."""

    def __init__(self, port: int, process: Running, held: Path) -> None:
        self.port, self.process, self._held = port, process, held
        self._stack = contextlib.ExitStack()

    def connect(self, data: bytes = b"", **options: int) -> socket.socket:
        """A connection on which `data` has been sent; it is closed with the test."""
        client = socket.socket()
        for name, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        self._stack.callback(client.close)
        if data:
            client.sendall(data)
        return client

    def get(self, path: str = "/", **headers: str) -> http.client.HTTPResponse:
        """The answer to a GET on a connection of its own."""
        return self.ask("GET", path, headers=headers)

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> http.client.HTTPResponse:
        """The answer to a request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self._stack.callback(connection.close)
        connection.request(method, path, body, **options)
        return connection.getresponse()

    def serves_others(self, count: int = 10) -> bool:
        """Whether so many requests in a row are answered, each within PATIENCE."""
        return all(self.get().status == 200 for _number in range(count))

    @contextlib.contextmanager
    def holding(self) -> Iterator[Callable[[bytes], socket.socket]]:
        """Requests for /hold and /upload/hold take as long as the block; the function sends one that a thread takes."""
        before = self.process.text().count("a request is held")
        sent = itertools.count(before + 1)
        self._held.touch()

        def hold(request: bytes) -> socket.socket:
            client, number = self.connect(request), next(sent)
            eventually(lambda: self.process.text().count("a request is held") >= number)
            return client

        try:
            yield hold
        finally:
            self._held.unlink()

    def answers(self) -> bool:
        """Whether it answers at all."""
        with contextlib.suppress(OSError):
            return self.get().status == 200
        return False

    def close(self) -> None:
        """Close every connection."""
        self._stack.close()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Starts small servers; those with the same limits are one."""
    folder = tmp_path_factory.mktemp("web")
    file = folder / "file"
    file.write_bytes(os.urandom(2**20) * 7)
    started: dict[str, Small] = {}
    with contextlib.ExitStack() as stack:

        def start(**limits: Any) -> Small:
            given = json.dumps(limits)
            if given not in started:
                port = free_port()
                command = [sys.executable, "-m", "tests.security.small_server", str(port), str(file), given]
                process = stack.enter_context(running(command, folder / f"log{port}"))
                small = Small(port, process, Path(f"{file}{port}"))
                eventually(small.answers)
                started[given] = small
            return started[given]

        yield start


@pytest.fixture
def start(servers: Any) -> Iterator[Any]:
    """`start(**limits)`; the connections of a test are closed behind it."""
    used: list[Small] = []

    def start(**limits: Any) -> Small:
        used.append(servers(**limits))
        return used[-1]

    yield start
    for small in used:
        small.close()


def first_line(client: socket.socket) -> bytes:
    """The status line of an answer, b"" when the connection was closed without one."""
    with contextlib.suppress(ConnectionError):
        return client.recv(65536).partition(b"\r\n")[0]
    return b""


def is_closed(client: socket.socket) -> bool:
    """Whether the server has ended the connection."""
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def is_readable(client: socket.socket) -> bool:
    """Whether an answer has begun; nothing is read."""
    return bool(select.select([client], [], [], 0)[0])


def test_row_49_http_2_is_not_spoken_and_half_requests_of_it_hold_nothing(start: Any) -> None:
    small = start(threads=2)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    settings_frame = b"\0\0\0\4\0\0\0\0\0"
    headers = [
        len(block := b"\x83\x84\x86\x41\x01a").to_bytes(3, "big") + b"\1\4" + (1 + 2 * n).to_bytes(4, "big") + block
        for n in range(10)
    ]
    for _number in range(6):
        client = small.connect(preface + settings_frame + b"".join(headers))
        assert first_line(client).startswith(b"HTTP/1.1 400")
        client.close()
    assert small.serves_others()


def test_row_49_an_upgrade_to_http_2_is_answered_in_http_1(start: Any) -> None:
    small = start()
    upgrade = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA"}
    for body in (None, b"x" * 300):
        answer = small.ask("POST", "/echo", body, headers=upgrade)
        assert (answer.status, answer.version, answer.read()) == (200, 11, str(len(body or b"")).encode())


def test_row_50_forty_dripping_bodies_hold_no_thread_and_end(start: Any) -> None:
    small = start(threads=2, **ENDLESS)
    paths = ["/inbox", "/users/x/inbox", "/auth/sign_in", "/auth/password", "/oauth/authorize", "/api/v1/statuses"]
    head = "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\nx"
    dripping = [small.connect(head.format(paths[n % 6]).encode()) for n in range(40)]
    chunked = small.connect(b"POST /inbox HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
    assert small.serves_others()
    assert not any(is_closed(client) for client in (*dripping, chunked))
    impatient = start(threads=2, body_grace=0.5, body_rate=1000)
    for path in paths:
        assert first_line(impatient.connect(head.format(path).encode())) == b"HTTP/1.1 408 Request Timeout"
    chunked = impatient.connect(b"POST /inbox HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
    assert first_line(chunked) == b"HTTP/1.1 408 Request Timeout"


def test_row_50_a_body_that_keeps_to_the_least_rate_arrives(start: Any) -> None:
    small = start(body_grace=1.0, body_rate=100)
    client = small.connect(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1500\r\n\r\n")
    for _number in range(15):
        client.sendall(b"x" * 100)
        time.sleep(0.15)
    assert client.recv(65536).endswith(b"\r\n\r\n1500")


def test_row_50_a_large_body_arrives_whole_and_one_that_is_too_large_is_refused_unread(start: Any) -> None:
    small = start()
    assert small.ask("POST", "/upload", b"x" * 9_000_001).read() == b"9000001"
    assert small.ask("POST", "/upload", iter([b"y" * 300_000] * 10), encode_chunked=True).read() == b"3000000"
    for framing in (f"Content-Length: {2**20 + 1}", "Transfer-Encoding: chunked"):
        client = small.connect(f"POST /echo HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n".encode())
        if "chunked" in framing:
            with contextlib.suppress(ConnectionError):
                client.sendall(b"20000\r\n" + b"x" * 0x20000 + b"\r\n" + b"f0000\r\n" + b"x" * 0xF0000)
        assert first_line(client).startswith(b"HTTP/1.1 413 ")
    assert small.serves_others(2)


def test_row_50_one_address_sends_a_bounded_number_of_bodies_at_a_time(start: Any) -> None:
    """Of IPv6 the /64 is one address, and a trusted proxy says which; private addresses are proxies and not counted."""
    small = start(bodies_per_address=3, trusted="127.0.0.1/32")
    head = "POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {}\r\nContent-Length: 500\r\n\r\nx"

    def send(address: str) -> socket.socket:
        return small.connect(head.format(address).encode())

    held = [send(f"2606:4700::{number}") for number in range(1, 4)]
    assert first_line(send("2606:4700::ffff")).startswith(b"HTTP/1.1 429")
    others = [send("8.8.8.8"), *(send("10.0.0.1") for _number in range(6))]
    time.sleep(0.3)
    assert not any(map(is_closed, [*held, *others]))
    held[0].close()
    time.sleep(0.3)
    held.append(send("2606:4700::ffff"))
    time.sleep(0.2)
    assert not is_closed(held[-1])


def test_row_51_forty_slow_readers_of_a_large_file_hold_no_thread_and_others_get_it_whole(start: Any) -> None:
    small = start(threads=2, **ENDLESS)
    request = b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n"
    readers = [small.connect(request, SO_RCVBUF=2048) for _number in range(40)]
    assert small.serves_others()
    assert len(small.get("/file").read()) == FILE_SIZE
    assert not any(_has_ended(client) for client in readers)
    impatient = start(threads=2, read_window=1.0)
    readers = [impatient.connect(request, SO_RCVBUF=2048) for _number in range(4)]
    eventually(lambda: all(_has_ended(client) for client in readers))


def _has_ended(client: socket.socket) -> bool:
    """Whether the server gave up sending: the kernel reports it without anything being read."""
    state = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state != 1  # TCP_ESTABLISHED


def test_row_51_a_reader_that_is_slow_but_not_too_slow_gets_everything(start: Any) -> None:
    small = start(read_window=1.0, read_rate=1000)
    client = small.connect(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n", SO_RCVBUF=65536)
    received, began = 0, time.monotonic()
    while received < FILE_SIZE:
        data = client.recv(65536)
        assert data, received
        received += len(data)
        if time.monotonic() - began < 4:
            time.sleep(0.1)


def test_row_52_idle_connections_are_replaced_by_new_ones_and_closed_early(start: Any) -> None:
    small = start(connections=300, **ENDLESS)
    idle = [small.connect() for _number in range(600)]
    half = [small.connect(b"GET / HTTP/1.1\r\nHost: ") for _number in range(500)]
    assert small.serves_others()
    eventually(lambda: all(is_closed(client) for client in idle))
    for client in half:
        client.close()


def test_row_52_a_connection_between_two_requests_outlives_those_that_never_asked(start: Any) -> None:
    small = start(connections=50)
    kept = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert first_line(kept) == b"HTTP/1.1 200 OK"
    for _number in range(200):
        small.connect()
    kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert first_line(kept) == b"HTTP/1.1 200 OK"


def test_row_52_a_connection_too_many_is_answered_503_while_all_others_are_busy(start: Any) -> None:
    small = start(connections=2, threads=2)
    with small.holding() as hold:
        for _number in range(2):
            hold(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        refused = small.get("/")
    assert (refused.status, refused.headers["Retry-After"]) == (503, "5")


def test_row_52_headers_have_an_end(start: Any) -> None:
    small = start(head_seconds=1.5)
    dripping = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ")
    for head in (b"X-A: " + b"a" * 40_000, b"\r\n".join(b"X-%d: a" % number for number in range(200))):
        client = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
        assert first_line(client).startswith(b"HTTP/1.1 431")
    assert first_line(dripping) == b"HTTP/1.1 408 Request Timeout"


def test_row_56_uploads_that_take_long_wait_for_each_other_and_hold_no_thread_of_others(start: Any) -> None:
    small = start(threads=2, upload_threads=1, uploads_waiting=4)
    upload = b"POST /upload/hold HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
    with small.holding() as hold:
        uploads = [hold(upload)]
        uploads += [small.connect(upload) for _number in range(7)]
        assert small.serves_others(5)
        eventually(lambda: sum(is_readable(client) for client in uploads) == 3)
    statuses = sorted(first_line(client).split()[1] for client in uploads)
    assert statuses == [b"200"] * 5 + [b"503"] * 3


def test_more_requests_than_can_wait_are_503_with_retry_after(start: Any) -> None:
    small = start(threads=1, waiting=2)
    request = b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"
    with small.holding() as hold:
        hold(request)
        waiting = [small.connect(request) for _number in range(2)]
        refused = eventually(lambda: (answer := small.get("/")).status == 503 and answer)
    assert [first_line(client) for client in waiting] == [b"HTTP/1.1 200 OK"] * 2
    assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
    assert "error" in json.loads(refused.read())


def test_row_49_a_process_that_is_stopped_is_replaced_while_the_other_answers(start: Any) -> None:
    small = start(processes=2, silence=2.0)
    before = descendants(small.process.pid)
    small.connect(b"GET /stop HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.2)
    assert small.serves_others()
    eventually(lambda: "answers nothing and is replaced" in small.process.text())
    eventually(lambda: len(descendants(small.process.pid)) == 2)
    assert descendants(small.process.pid) != before
    assert small.serves_others()


def test_row_49_a_process_whose_threads_never_come_back_is_replaced(start: Any) -> None:
    small = start(threads=2, stuck_seconds=1.5, silence=1.5)
    for _number in range(3):
        small.connect(b"GET /deadlock HTTP/1.1\r\nHost: x\r\n\r\n")
    eventually(lambda: "answers nothing and is replaced" in small.process.text())
    eventually(small.answers)


def test_a_killed_process_is_replaced_at_once_and_the_other_answers(start: Any) -> None:
    small = start(processes=2, silence=30.0)
    victim = int(small.get("/pid").read())
    os.kill(victim, signal.SIGKILL)
    assert small.serves_others(20)
    eventually(lambda: len(descendants(small.process.pid) - {victim}) == 2)


def test_a_stop_lets_requests_under_way_end_and_waits_for_nobody_else(start: Any) -> None:
    """A client in the middle of a body, an idle one and a slow reader: none of them makes the stop last."""
    small = start(stop_seconds=100 * PATIENCE)
    small.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
    small.connect()
    kept = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert first_line(kept) == b"HTTP/1.1 200 OK"
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(small.get, "/sleep?0.7")
        time.sleep(0.3)
        small.process.end()
        assert answer.result().status == 200
    assert "killed" not in small.process.text()
    assert small.process.process.returncode == 0


def test_what_the_application_lets_pass_is_logged_and_a_500_and_a_full_disk_is_503(start: Any) -> None:
    small = start()
    assert small.get("/raise").status == 500
    assert "ValueError: unforeseen" in small.process.text()
    full = small.get("/full")
    assert (full.status, full.headers["Retry-After"]) == (503, "30")
    assert small.serves_others(1)


def test_requests_sent_ahead_are_answered_in_order_and_only_a_few(start: Any) -> None:
    small = start()
    client = small.connect(b"".join(b"GET /environ?%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(5)))
    found = b""
    while found.count(b"QUERY_STRING") < 5:
        found += client.recv(65536)
    assert re.findall(rb'"QUERY_STRING": "(\d)"', found) == [b"0", b"1", b"2", b"3", b"4"]
    flood = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
    answered = 0
    with contextlib.suppress(ConnectionError):
        while data := flood.recv(65536):
            answered += data.count(b"HTTP/1.1 200")
    assert answered < 20


@pytest.mark.parametrize(
    "head",
    [
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
        "GARBAGE\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\0y\n\n",
    ],
)
def test_requests_that_two_servers_could_read_differently_are_refused(start: Any, head: str) -> None:
    small = start()
    assert first_line(small.connect(head.encode())) == b"HTTP/1.1 400 Bad Request"


def test_what_the_application_receives_of_a_request(start: Any) -> None:
    small = start()
    headers = {"X-Real": "1", "X_Real": "2", "Cookie": "a=1", "Content-Type": "text/x"}
    environ = json.loads(small.ask("GET", "/environ?q=%20a", headers=headers).read())
    assert (environ["PATH_INFO"], environ["QUERY_STRING"], environ["RAW_URI"]) == (
        "/environ",
        "q=%20a",
        "/environ?q=%20a",
    )
    assert (environ["HTTP_X_REAL"], environ["HTTP_COOKIE"], environ["CONTENT_TYPE"]) == ("1", "a=1", "text/x")
    assert (environ["REMOTE_ADDR"], environ["REQUEST_METHOD"], environ["SERVER_PROTOCOL"]) == (
        "127.0.0.1",
        "GET",
        "HTTP/1.1",
    )
    absolute = small.connect(b"GET http://other.example/environ?x HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b'"PATH_INFO": "/environ"' in absolute.recv(65536)
    trailers = (
        b"POST /environ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Late: 1\r\n\r\n"
    )
    answer = small.connect(trailers).recv(65536)
    assert b'"CONTENT_LENGTH": "1"' in answer
    assert b"X_LATE" not in answer


def test_expect_100_continue_is_answered_by_continue_or_the_refusal(start: Any) -> None:
    small = start()
    head = "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n"
    client = small.connect(head.format(3).encode())
    assert first_line(client) == b"HTTP/1.1 100 Continue"
    client.sendall(b"abc")
    assert first_line(client) == b"HTTP/1.1 200 OK"
    assert first_line(small.connect(head.format(2**30).encode())).startswith(b"HTTP/1.1 413")


def test_head_and_http_1_0(start: Any) -> None:
    small = start()
    for path in ("/file", "/"):
        answer = small.ask("HEAD", path)
        assert answer.status == 200
        assert answer.read() == b""
    client = small.connect(b"GET / HTTP/1.0\r\n\r\n")
    received = b""
    while data := client.recv(65536):
        received += data
    assert received.startswith(b"HTTP/1.1 200 OK")
    assert b"Connection: close" in received


def test_a_client_that_goes_in_the_middle_disturbs_nobody(start: Any) -> None:
    small = start(threads=2)

    def leave(data: bytes) -> None:
        small.connect(data).close()

    threads = [
        threading.Thread(target=leave, args=(data,))
        for data in (
            b"GET /sleep?0.1 HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n",
            b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b"x" * 500_000,
        )
        * 10
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert small.serves_others()
    assert "Traceback" not in small.process.text()


def test_row_56_answers_that_are_put_off_hold_no_thread(start: Any) -> None:
    small = start(threads=2)
    waiting = [small.connect(b"GET /later?1000000,600 HTTP/1.1\r\nHost: x\r\n\r\n") for _number in range(40)]
    assert small.serves_others()
    answer = small.get("/later?3,600")
    assert (answer.status, answer.read()) == (201, b"done")
    assert (answer.headers["Content-Type"], answer.headers["X-Later"]) == ("text/x-later", "yes")
    assert not any(is_closed(client) for client in waiting)


def test_an_answer_that_is_put_off_for_too_long_is_what_it_was_at_first(start: Any) -> None:
    small = start(threads=2)
    answer = small.get("/later?1000000,0.5")
    assert (answer.status, answer.read(), answer.headers["Content-Type"]) == (200, b"0", "text/plain")


def test_who_goes_away_is_not_waited_for_and_a_connection_serves_on_afterwards(start: Any) -> None:
    small = start(threads=2)
    small.connect(b"GET /later?1000000,600 HTTP/1.1\r\nHost: x\r\n\r\n").close()
    client = small.connect(b"GET /later?2,600 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
    received = b""
    while received.count(b"HTTP/1.1") < 2:
        received += client.recv(65536)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"201", b"200"]
    assert small.serves_others()
