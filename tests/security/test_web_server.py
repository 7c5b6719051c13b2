"""Tests of a real web server process that is attacked through sockets on loopback (security rows 49 to 52, 56).

The application is a small one, since its responses do not matter. `test_attacks.py` repeats the attacks on the whole server.
"""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.runtime.processes import descendants, eventually
from tests.security.small_client import ENDLESS, FILE_SIZE, first_line, is_closed, is_readable, read_until
from tests.support.patience import SOON


def test_row_49_http_2_is_refused_and_incomplete_requests_occupy_nothing(start: Any) -> None:
    small = start(threads=2)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    settings_frame = b"\0\0\0\4\0\0\0\0\0"
    headers = [
        len(block := b"\x83\x84\x86\x41\x01a").to_bytes(3, "big") + b"\1\4" + (1 + 2 * n).to_bytes(4, "big") + block
        for n in range(10)
    ]
    for _number in range(6):
        client = small.connect(preface + settings_frame + b"".join(headers))
        assert is_closed_soon(client)
        client.close()
    assert small.serves_others()


def test_row_49_an_upgrade_to_http_2_is_answered_in_http_1(start: Any) -> None:
    small = start()
    upgrade = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA"}
    for body in (None, b"x" * 300):
        answer = small.ask("POST", "/echo", body, headers=upgrade)
        assert (answer.status, answer.version, answer.read()) == (200, 11, str(len(body or b"")).encode())


def is_closed_soon(client: socket.socket) -> bool:
    """Return whether the server closes a connection, with or without a refusal."""
    line = first_line(client)
    return line in (b"", b"HTTP/1.1 400 Bad Request")


@pytest.mark.verify
def test_row_50_forty_very_slow_bodies_occupy_no_thread_and_time_out(start: Any) -> None:
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


@pytest.mark.verify
def test_row_50_a_body_sent_at_the_minimum_rate_is_accepted(start: Any) -> None:
    small = start(body_grace=1.0, body_rate=100)
    client = small.connect(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1500\r\n\r\n")
    for _number in range(15):
        client.sendall(b"x" * 100)
        time.sleep(0.15)
    assert read_until(client, b"1500").endswith(b"\r\n\r\n1500")


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
    for path, kind in (("/page", "text/html"), ("/echo", "application/json; charset=utf-8")):
        answer = small.ask("POST", path, headers={"Content-Length": str(2**20 + 1), "Accept": "text/html"})
        assert (answer.status, answer.headers["Content-Type"]) == (413, kind)
        assert answer.read() == (b"A page" if path == "/page" else b'{"error":"Payload too large"}')
    assert small.serves_others(2)


def test_row_50_one_address_sends_a_bounded_number_of_bodies_at_a_time(start: Any) -> None:
    """An IPv6 /64 counts as one address, a trusted proxy names the client's address, and private addresses are proxies without
    a limit.
    """
    small = start(bodies_per_address=3, trusted="127.0.0.1/32")
    head = "POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {}\r\nContent-Length: 500\r\n\r\nx"

    def send(address: str) -> socket.socket:
        return small.connect(head.format(address).encode())

    held = [send(f"2606:4700::{number}") for number in range(1, 4)]
    assert first_line(send("2606:4700::ffff")).startswith(b"HTTP/1.1 429")
    others = [send("8.8.8.8"), *(send("10.0.0.1") for _number in range(6))]
    assert small.serves_others()
    assert not any(map(is_closed, [*held, *others]))
    before = small.descriptors()
    held[0].close()
    eventually(lambda: small.descriptors() < before)
    held.append(send("2606:4700::ffff"))
    assert small.serves_others()
    assert not is_closed(held[-1])


@pytest.mark.verify
def test_row_51_forty_slow_readers_occupy_no_thread_and_others_get_the_whole_file(start: Any) -> None:
    small = start(threads=2, **ENDLESS)
    request = b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n"
    before = small.descriptors()
    for _number in range(40):
        small.connect(request, SO_RCVBUF=2048)
    assert small.serves_others()
    assert len(small.get("/file").read()) == FILE_SIZE
    assert small.descriptors() >= before + 40
    impatient = start(threads=2, read_seconds=1.0)
    assert impatient.serves_others(1)
    before = impatient.descriptors()
    for _number in range(4):
        impatient.connect(request, SO_RCVBUF=2048)
    eventually(lambda: impatient.descriptors() >= before + 4)
    eventually(lambda: impatient.descriptors() <= before)


def test_a_range_of_a_file_is_sent_however_short_it_is(start: Any) -> None:
    small = start(threads=2)
    whole = small.get("/file").read()
    for first, end in ((0, 0), (5, 5), (FILE_SIZE, FILE_SIZE), (9, 10), (7, 1_000_000), (1_000_000, FILE_SIZE)):
        answer = small.get(f"/file?{first},{end}")
        assert (answer.status, answer.read()) == (200, whole[first:end])


@pytest.mark.verify
def test_row_51_a_reader_above_the_minimum_rate_gets_everything(start: Any) -> None:
    small = start(read_seconds=2.0)
    client = small.connect(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n", SO_RCVBUF=65536)
    received, began = 0, time.monotonic()
    while received < FILE_SIZE:
        data = client.recv(65536)
        assert data, received
        received += len(data)
        if time.monotonic() - began < 4:
            time.sleep(0.1)


def test_row_52_idle_and_half_open_connections_delay_nobody(start: Any) -> None:
    small = start(threads=2, **ENDLESS)
    for number in range(1100):
        small.connect(b"GET / HTTP/1.1\r\nHost: " if number % 2 else b"")
    assert small.serves_others()


@pytest.mark.verify
def test_row_52_idle_and_half_open_connections_are_closed_early(start: Any) -> None:
    small = start(head_seconds=1.5)
    waiting = [small.connect(data) for data in (b"", b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ")]
    kept = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert first_line(kept) == b"HTTP/1.1 200 OK"
    eventually(lambda: all(is_closed(client) for client in (*waiting, kept)))


@pytest.mark.verify
def test_row_52_connections_beyond_the_limit_wait_and_are_served_when_idle_ones_are_closed(start: Any) -> None:
    small = start(connections=20, head_seconds=1.5)
    for _number in range(60):
        small.connect()
    assert small.serves_others(2)


@pytest.mark.verify
def test_row_52_three_thousand_reset_connections_leave_no_open_files(start: Any) -> None:
    small = start(threads=2)
    assert small.serves_others(1)
    before = small.descriptors()
    for number in range(3000):
        with socket.socket() as client:
            client.connect(("127.0.0.1", small.port))
            if number % 2:
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    eventually(small.serves_others)
    eventually(lambda: small.descriptors() <= before)


def test_row_52_the_size_of_headers_is_limited(start: Any) -> None:
    small = start(threads=2, **ENDLESS)
    for head in (b"X-A: " + b"a" * 40_000, b"\r\n".join(b"X-%d: a" % number for number in range(200))):
        client = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
        assert first_line(client).startswith(b"HTTP/1.1 431")


def test_row_56_long_uploads_run_one_after_the_other_and_leave_threads_to_others(start: Any) -> None:
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


@pytest.mark.verify
@pytest.mark.parametrize(("way", "silence"), [("hang", 3.0), ("stop", 2.0)])
def test_row_49_a_process_that_has_hung_or_was_stopped_is_replaced(start: Any, way: str, silence: float) -> None:
    small = start(processes=2, silence=silence)
    before = descendants(small.process.pid)
    small.connect(f"GET /{way} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    if way == "stop":  # a hanging process may still accept connections
        time.sleep(0.2)
        assert small.serves_others()
    eventually(lambda: "sends no heartbeats and is replaced" in small.process.text())
    eventually(lambda: len(now := descendants(small.process.pid)) == 2 and now != before)
    assert small.serves_others()


@pytest.mark.verify
def test_row_49_a_process_whose_threads_are_all_stuck_is_replaced(start: Any) -> None:
    small = start(threads=2, stuck=1.5, silence=3.0)
    for _number in range(3):
        small.connect(b"GET /deadlock HTTP/1.1\r\nHost: x\r\n\r\n")
    eventually(lambda: "sends no heartbeats and is replaced" in small.process.text())
    eventually(lambda: "in application" in small.process.text())
    eventually(small.answers)


@pytest.mark.verify
def test_a_killed_process_is_replaced_at_once_and_the_other_answers(start: Any) -> None:
    small = start(processes=2)
    victim = int(small.get("/pid").read())
    os.kill(victim, signal.SIGKILL)
    assert small.serves_others(20)
    eventually(lambda: len(descendants(small.process.pid) - {victim}) == 2)


def test_a_stop_waits_for_running_requests(start: Any) -> None:
    """Neither an incomplete body, an idle connection nor a deferred response delays the server's shutdown."""
    small = start(stop_seconds=2.0)
    small.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
    small.connect()
    kept = small.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert first_line(kept) == b"HTTP/1.1 200 OK"
    later = small.connect(b"GET /later?1000000,600 HTTP/1.1\r\nHost: x\r\n\r\n")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(small.get, "/sleep?0.7")
        time.sleep(0.3)
        small.process.end()
        assert answer.result().status == 200
    assert first_line(later) == b"HTTP/1.1 200 OK"
    assert small.process.process.returncode == 0


def test_uncaught_errors_are_logged_with_a_500_and_a_full_disk_is_503(start: Any) -> None:
    small = start()
    assert small.get("/raise").status == 500
    assert "ValueError: unforeseen" in small.process.text()
    full = small.get("/full")
    assert (full.status, full.headers["Retry-After"]) == (503, "30")
    assert small.serves_others(1)


def test_an_application_that_exits_ends_neither_its_thread_nor_the_process(start: Any) -> None:
    small = start(threads=1)
    before = descendants(small.process.pid)
    assert [small.get("/exit").status for _number in range(3)] == [500, 500, 500]
    assert small.serves_others(1)
    assert descendants(small.process.pid) == before


@pytest.mark.verify
def test_row_56_deferred_responses_occupy_no_thread(start: Any) -> None:
    small = start(threads=2)
    waiting = [small.connect(b"GET /later?1000000,600 HTTP/1.1\r\nHost: x\r\n\r\n") for _number in range(40)]
    assert small.serves_others()
    answer = small.get("/later?3,600")
    assert (answer.status, answer.read()) == (201, b"done")
    assert (answer.headers["Content-Type"], answer.headers["X-Later"]) == ("text/x-later", "yes")
    assert not any(is_closed(client) for client in waiting)


def test_a_response_deferred_for_too_long_is_the_preliminary_one(start: Any) -> None:
    small = start(threads=2)
    answer = small.get("/later?1000000,0.5")
    assert (answer.status, answer.read(), answer.headers["Content-Type"]) == (200, b"0", "text/plain")


def test_disconnected_clients_are_not_waited_for_and_a_connection_serves_later_requests(start: Any) -> None:
    small = start(threads=2)
    small.connect(b"GET /later?1000000,600 HTTP/1.1\r\nHost: x\r\n\r\n").close()
    client = small.connect(b"GET /later?2,600 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
    received = b""
    while received.count(b"HTTP/1.1") < 2:
        received += client.recv(65536)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"201", b"200"]
    assert small.serves_others()


def test_a_pipelined_request_is_answered_right_after_the_one_before(start: Any) -> None:
    small = start(threads=2)
    ask = "GET /bytes?{} HTTP/1.1\r\nHost: x\r\n\r\n"
    lengths = range(10, 18)
    began = time.monotonic()
    for _round in range(3):
        with small.holding() as hold:
            client = hold(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
            last = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            client.sendall(("".join(map(ask.format, lengths)) + last).encode())
        answers = b""
        while data := client.recv(65536):
            answers += data
        assert re.findall(rb"content-length: (\d+)", answers)[1:-1] == [b"%d" % length for length in lengths]
    assert time.monotonic() - began < SOON


def test_continue_is_sent_after_the_responses_to_earlier_requests(start: Any) -> None:
    small = start(threads=2)
    waiting = b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    with small.holding() as hold:
        client = hold(b"GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
        client.sendall(waiting)
        assert small.serves_others()
        assert not is_readable(client)
    received = b""
    while b"100 Continue" not in received and (data := client.recv(65536)):
        received += data
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"100"]
    client.sendall(b"hello")
    assert read_until(client, b"\r\n\r\n5").endswith(b"\r\n\r\n5")
    file = small.connect(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n" + waiting)
    received = b""
    while b"100 Continue" not in received and (data := file.recv(65536)):
        received += data
    head, _empty, rest = received.partition(b"\r\n\r\n")
    assert (len(rest.removesuffix(b"HTTP/1.1 100 Continue\r\n\r\n")), head[:12]) == (FILE_SIZE, b"HTTP/1.1 200")


def test_a_response_for_a_disconnected_client_reaches_nobody_else(start: Any) -> None:
    small = start(threads=2)
    with small.holding() as hold:
        gone = [hold(b"POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n") for _number in range(2)]
        before = small.descriptors()
        for client in gone:
            # Reset the connection: if it were closed normally, the server would keep it, because the client might still read.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        eventually(lambda: small.descriptors() == before - 2)
        # The operating system gives these sockets the descriptors of the closed ones.
        others = [small.connect() for _number in range(4)]
        eventually(lambda: small.descriptors() == before + 2)
    assert small.serves_others()
    assert not any(is_readable(other) for other in others)


def test_a_large_response_is_complete_however_slowly_it_is_read(start: Any) -> None:
    small = start(threads=1)
    size = 6 * 2**20
    slow = small.connect(f"GET /bytes?{size} HTTP/1.1\r\nHost: x\r\n\r\n".encode(), SO_RCVBUF=4096)
    # The thread is free although no part of the response was read.
    assert small.serves_others()
    received = slow.recv(65536)
    while len(received.partition(b"\r\n\r\n")[2]) < size and (data := slow.recv(65536)):
        received += data
    assert received.partition(b"\r\n\r\n")[2] == b"b" * size
    slow.sendall(b"GET /bytes?7 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert read_until(slow, b"bbbbbbb").endswith(b"\r\n\r\nbbbbbbb")
