"""Tests of how the web server parses requests: their order, their form, and what the application receives."""

import contextlib
import json
import re
import threading
from typing import Any

import pytest

from tests.security.small_client import ENDLESS, first_line, is_readable, read_until


def test_pipelined_requests_are_answered_in_order_and_one_at_a_time(start: Any) -> None:
    small = start(threads=2)
    client = small.connect(b"".join(b"GET /environ?%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(5)))
    found = b""
    while found.count(b"QUERY_STRING") < 5:
        found += client.recv(65536)
    assert re.findall(rb'"QUERY_STRING": "(\d)"', found) == [b"0", b"1", b"2", b"3", b"4"]
    with small.holding() as hold:
        hold(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
        assert small.serves_others()


@pytest.mark.parametrize(
    "head",
    [
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
        "GARBAGE\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\0y\n\n",
    ],
)
def test_ambiguous_requests_are_refused(start: Any, head: str) -> None:
    small = start()
    assert first_line(small.connect(head.encode())) == b"HTTP/1.1 400 Bad Request"


def test_the_application_receives_a_request_as_it_was_sent(start: Any) -> None:
    small = start()
    headers = {"X-Real": "1", "X_Real": "2", "Cookie": "a=1", "Content-Type": "text/x"}
    environ = json.loads(small.ask("GET", "/environ?q=%20a", headers=headers).read())
    assert (environ["PATH_INFO"], environ["QUERY_STRING"]) == ("/environ", "q=%20a")
    assert (environ["HTTP_X_REAL"], environ["HTTP_COOKIE"], environ["CONTENT_TYPE"]) == ("1", "a=1", "text/x")
    assert (environ["REMOTE_ADDR"], environ["REQUEST_METHOD"], environ["SERVER_PROTOCOL"]) == (
        "127.0.0.1",
        "GET",
        "HTTP/1.1",
    )
    absolute = small.connect(b"GET http://other.example/environ?x HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b'"PATH_INFO": "/environ"' in read_until(absolute, b"}")
    chunked = b"POST /environ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\na\r\n0\r\n\r\n"
    answer = read_until(small.connect(chunked), b"}")
    assert b'"CONTENT_LENGTH": "1"' in answer
    assert b"TRANSFER_ENCODING" not in answer


def test_a_header_that_is_not_ascii_is_dropped_or_refused_if_proxies_set_it(start: Any) -> None:
    small = start()
    ask = "GET /environ HTTP/1.1\r\nHost: x\r\n{}: \xff, 1.2.3.4\r\n\r\n"
    answer = read_until(small.connect(ask.format("User-Agent").encode("latin-1")), b"}")
    assert b"HTTP_HOST" in answer
    assert b"HTTP_USER_AGENT" not in answer
    for name in ("X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP"):
        assert first_line(small.connect(ask.format(name).encode("latin-1"))) == b"HTTP/1.1 400 Bad Request"


def test_paths_arrive_byte_for_byte_and_connect_opens_no_tunnel(start: Any) -> None:
    small = start()
    path = b"/environ/\xc3\xa9%C3%A9%23%2F"
    answer = small.connect(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n").recv(65536)
    assert answer.startswith(b"HTTP/1.1 200")
    tunnel = small.connect(b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\nGET /pid HTTP/1.1\r\nHost: x\r\n\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+)", read_until(tunnel, b"nothing ends so")) == [b"400"]


def test_host_headers_may_have_a_port_or_brackets(start: Any) -> None:
    small = start()
    for host in ("x:80", "[::1]:8000"):
        answer = read_until(small.connect(f"GET /environ?a HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()), b"}")
        assert f'"HTTP_HOST": "{host}"'.encode() in answer


def test_expect_100_continue_is_answered_by_continue_or_the_refusal(start: Any) -> None:
    small = start()
    head = "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n"
    client = small.connect(head.format(3).encode())
    assert first_line(client) == b"HTTP/1.1 100 Continue"
    client.sendall(b"abc")
    assert first_line(client) == b"HTTP/1.1 200 OK"
    assert first_line(small.connect(head.format(2**30).encode())).startswith(b"HTTP/1.1 413")


def test_head_requests_and_http_1_0_are_answered_correctly(start: Any) -> None:
    small = start()
    for path in ("/file", "/"):
        answer = small.ask("HEAD", path)
        assert answer.status == 200
        assert answer.read() == b""
    client = small.connect(b"GET / HTTP/1.0\r\n\r\n")
    found = read_until(client, b"nothing ends so")
    assert found.startswith(b"HTTP/1.0 200 OK")


def test_a_client_that_disconnects_in_the_middle_affects_nobody(start: Any) -> None:
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


def _sent(framing: str, rest: str = "", version: str = "1.1", host: str = "Host: x\r\n") -> bytes:
    return f"POST /echo HTTP/{version}\r\n{host}{framing}\r\n{rest}".encode()


_CHUNKED = "Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    "request_",
    {
        "HTTP/0.9": b"GET /\r\n",
        "HTTP/0.9 by name": b"GET / HTTP/0.9\r\n\r\n",
        "HTTP/2.0": b"GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "HTTP/1.2": b"GET / HTTP/1.2\r\nHost: x\r\n\r\n",
        "no Host": b"GET / HTTP/1.1\r\n\r\n",
        "an empty Host": b"GET / HTTP/1.1\r\nHost: \r\n\r\n",
        "a Host with a path": b"GET / HTTP/1.1\r\nHost: x/y\r\n\r\n",
        "a Host with a user": b"GET / HTTP/1.1\r\nHost: y@x\r\n\r\n",
        "a Host with spaces": b"GET / HTTP/1.1\r\nHost: a b/c@d\r\n\r\n",
        "two in a Host": b"GET / HTTP/1.1\r\nHost: x, y\r\n\r\n",
        "a target that is a host": b"GET x HTTP/1.1\r\nHost: x\r\n\r\n",
        "several spaces in the first line": b"GET  /  HTTP/1.1\r\nHost: x\r\n\r\n",
        "a target with a space": b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        "a coding in 1.0": _sent(_CHUNKED, "0\r\n\r\n", version="1.0"),
        "two codings": _sent("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
        "chunked twice": _sent(_CHUNKED * 2, "0\r\n\r\n"),
        "chunked first": _sent("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        "another coding": _sent("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
        "a coding behind a control character": _sent("Transfer-Encoding:\x0bchunked\r\n", "0\r\n\r\n"),
        "a coding in a folded line": _sent("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
        "length and two codings": _sent("Content-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
        "a trailer": _sent(_CHUNKED, "1\r\na\r\n0\r\nX-Late: 1\r\n\r\n"),
        "two lengths in one": _sent("Content-Length: 1, 1\r\n", "a"),
        "two lengths": _sent("Content-Length: 1\r\nContent-Length: 2\r\n", "a"),
        "a hexadecimal length": _sent("Content-Length: 0x1\r\n", "a"),
        "no length": _sent("Content-Length:\r\n"),
        "a length beyond all numbers": _sent("Content-Length: 99999999999999999999\r\n"),
        "a bare carriage return behind a header": _sent("A: b\rContent-Length: 0\r\n"),
        "a space before the colon": _sent("Content-Length : 0\r\n"),
        "a bare line feed behind a size": _sent(_CHUNKED, "1\na\r\n0\r\n\r\n"),
        "a bare line feed behind a chunk": _sent(_CHUNKED, "1\r\na\n0\r\n\r\n"),
        "a bare line feed in an extension": _sent(_CHUNKED, "1;\na\r\n0\r\n\r\n"),
        "a bare line feed behind the last chunk": _sent(_CHUNKED, "0\r\n\n"),
        "a bare line feed in a trailer": _sent(_CHUNKED, "0\r\nX: y\nZ: 1\r\n\r\n"),
        "a chunk longer than its size": _sent(_CHUNKED, "1\r\nabc\r\n0\r\n\r\n"),
        "a size with a sign": _sent(_CHUNKED, "+1\r\na\r\n0\r\n\r\n"),
        "a size with a prefix": _sent(_CHUNKED, "0x1\r\na\r\n0\r\n\r\n"),
        "a size beyond all numbers": _sent(_CHUNKED, "fffffffffffffffff\r\na"),
    }.items(),
    ids=lambda item: item[0],
)
def test_malformed_requests_are_refused_and_nothing_after_them_is_read(start: Any, request_: tuple[str, bytes]) -> None:
    small = start()
    client = small.connect(request_[1] + b"GET /pid HTTP/1.1\r\nHost: x\r\n\r\n")
    found = read_until(client, b"nothing ends so")
    assert re.findall(rb"HTTP/1.1 (\d+)", found) in ([b"400"], [b"501"]), found
    assert b"connection: close" in found


@pytest.mark.parametrize(
    "head",
    [
        _sent(_CHUNKED, "5;"),
        _sent(_CHUNKED, "0\r\nX-Late: "),
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ",
        b"GET /",
    ],
    ids=["extension", "trailer", "header", "target"],
)
def test_endless_requests_are_refused_before_their_deadline(start: Any, head: bytes) -> None:
    small = start(**ENDLESS)
    client = small.connect(head)
    with contextlib.suppress(ConnectionError):
        for _number in range(1000):
            client.sendall(b"a" * 4096)
    assert first_line(client).split()[1] in (b"400", b"431")


def test_a_refusal_follows_the_responses_to_earlier_requests(start: Any) -> None:
    small = start(threads=2)
    with small.holding() as hold:
        client = hold(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        client.sendall(b"GET /pid HTTP/1.1\r\nHost: x\r\n\r\n" + _sent(_CHUNKED, "1\r\na\r\nbroken"))
        assert small.serves_others(2)
        assert not is_readable(client)
    found = read_until(client, b"nothing ends so")
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"200", b"200", b"400"]


def test_tolerated_forms_of_requests_are_read_in_only_one_way(start: Any) -> None:
    """Proxies refuse or rewrite such requests (RFC 9112 sections 2.2 and 6.3).

    A transfer coding takes precedence over a length, and the connection is closed.
    """
    small = start()
    chunks = "1\r\na\r\n0\r\n\r\n"
    for framing, body, count in (
        ("Content-Length: 30\r\n" + _CHUNKED, chunks, 1),
        (_CHUNKED + "Content-Length: 30\r\n", chunks, 1),
        ("Content-Length: 1\r\n" * 2, "a", 2),
        ("A: b\nContent-Length: 1\r\n", "a", 2),
        (_CHUNKED, "1 \r\na\r\n0\r\n\r\n", 2),
    ):
        client = small.connect(_sent(framing, body) * 2)
        found = b""
        while found.count(b"HTTP/1.1 200") < 2 and (data := client.recv(65536)):
            found += data
        assert re.findall(rb"\r\n\r\n(\d+)", found) == [b"1"] * count, framing


def test_the_body_of_one_request_is_never_the_next_request(start: Any) -> None:
    """A request inside a body gets no response, whatever form the body has."""
    small = start()
    inner = "GET /pid HTTP/1.1\r\nHost: x\r\n\r\n"
    whole = _sent(f"Content-Length: {len(inner)}\r\n", inner) + _sent(
        _CHUNKED, f"{len(inner):x};a=b\r\n{inner}\r\n0\r\n\r\n"
    )
    offer = "Connection: Upgrade\r\nUpgrade: h2c\r\n"
    client = small.connect(
        whole + _sent(f"{offer}Connection: close\r\nContent-Length: {len(inner)}\r\n", inner + inner)
    )
    found = read_until(client, b"nothing ends so")
    assert re.findall(rb"\r\n\r\n(\d+)", found) == [b"%d" % len(inner)] * 3
