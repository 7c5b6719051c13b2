"""What the web server makes of requests: their order, their form, and what the application receives."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from typing import Any

import pytest

from tests.security.small_client import first_line


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
