"""Tests of requests to servers whose responses are slow, endless, broken or false (security rows 4 and 6)."""

import contextlib
import io
import json
import threading
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlsplit

import pytest

from social.kernel.errors import Unavailable
from social.kernel.http.client import (
    ACTIVITY_TYPES,
    FetchError,
    GuardedClient,
    Policy,
    Request,
    TimedOut,
    TooLarge,
    Unreachable,
    WrongType,
)
from social.kernel.http.content import is_acceptable, media_type
from tests.kernel.http.attacker import DOCUMENT, Attacker, bomb
from tests.support.patience import SOON

PROFILE = 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'


@pytest.fixture
def other() -> Iterator[Attacker]:
    """A second server, which is a different origin."""
    with Attacker() as server:
        yield server


def test_a_response_has_its_status_headers_body_and_address(client: GuardedClient, attacker: Attacker) -> None:
    response = client.send(Request(attacker.url("/document#main-key"), accept=ACTIVITY_TYPES))
    assert (response.status, response.body, response.url) == (200, DOCUMENT, attacker.url("/document"))
    assert response.headers["content-type"] == "application/activity+json; charset=utf-8"
    assert response.media_type == "application/activity+json"


def test_a_body_can_be_written_to_a_file_with_the_same_limits(client: GuardedClient, attacker: Attacker) -> None:
    file = io.BytesIO()
    response = client.send(Request(attacker.url("/document"), accept=ACTIVITY_TYPES, file=file))
    assert (response.status, response.body, file.getvalue()) == (200, b"", DOCUMENT)
    for size, refused in ((len(DOCUMENT), False), (len(DOCUMENT) - 1, True)):
        bounded = Request(attacker.url("/document"), max_bytes=size, file=io.BytesIO())
        with pytest.raises(TooLarge) if refused else contextlib.nullcontext():
            client.send(bounded)


def test_requests_name_this_server_and_the_accepted_types(client: GuardedClient, attacker: Attacker) -> None:
    client.send(Request(attacker.url("/echo?a=%7e&b[]=c"), accept=ACTIVITY_TYPES, headers={"X-Own": "1"}))
    [seen] = attacker.requests
    assert seen.target == "/echo?a=%7e&b[]=c"
    assert seen.headers == {
        "host": f"127.0.0.1:{attacker.port}",
        "accept": "application/activity+json, application/ld+json",
        "accept-encoding": "gzip",
        "user-agent": "Social/test (+https://social.example)",
        "x-own": "1",
    }


def test_a_post_request_sends_its_body_and_type(client: GuardedClient, attacker: Attacker) -> None:
    response = client.send(
        Request(
            attacker.url("/echo"), method="POST", body=DOCUMENT, headers={"Content-Type": "application/activity+json"}
        )
    )
    [seen] = attacker.requests
    assert (response.status, seen.method, seen.body) == (200, "POST", DOCUMENT)
    assert seen.headers["content-type"] == "application/activity+json"
    assert seen.headers["content-length"] == str(len(DOCUMENT))


def test_a_head_request_has_a_response_without_a_body(client: GuardedClient, attacker: Attacker) -> None:
    response = client.send(Request(attacker.url("/announced"), method="HEAD"))
    assert (response.status, response.body, response.headers["Content-Length"]) == (200, b"", "10000000000")


@pytest.mark.parametrize("status", [201, 202, 304, 400, 401, 404, 410, 429, 500, 503])
def test_every_status_is_a_response_and_the_body_of_an_error_is_cut(
    client: GuardedClient, attacker: Attacker, status: int
) -> None:
    response = client.send(Request(attacker.url(f"/status/{status}")))
    assert response.status == status
    assert len(response.body) == {201: 100_000, 202: 100_000, 304: 0}.get(status, 16_384)


def test_an_error_page_of_the_wrong_type_is_a_response_with_its_status(
    client: GuardedClient, attacker: Attacker
) -> None:
    assert client.send(Request(attacker.url("/status/410"), accept=ACTIVITY_TYPES)).status == 410


def test_an_error_with_a_broken_body_is_a_response_with_its_status(client: GuardedClient, attacker: Attacker) -> None:
    for rest in ("Content-Length: 100\r\n\r\nhalf", "Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx"):
        response = client.send(Request(attacker.url("/raw?" + quote("HTTP/1.1 410 Gone\r\n" + rest))))
        assert (response.status, response.body) == (410, b"")


# --- time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/drip", "/drip_headers", "/silent", "/continue", "/announced", "/redirect_drip", "/slow/5"]
)
def test_a_request_to_a_slow_server_ends_at_the_deadline(client: GuardedClient, attacker: Attacker, path: str) -> None:
    url = attacker.redirecting("/drip") if path == "/redirect_drip" else attacker.url(path)
    started = time.monotonic()
    with pytest.raises(TimedOut):
        client.send(Request(url, deadline=0.3, max_bytes=1 << 40))
    assert 0.25 < time.monotonic() - started < SOON


def test_row_83_the_number_of_interim_responses_is_limited(client: GuardedClient, attacker: Attacker) -> None:
    final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    for number, refused in ((16, False), (17, True)):
        url = attacker.url("/raw?" + quote("HTTP/1.1 103 Early Hints\r\n\r\n" * number + final))
        with pytest.raises(Unreachable, match="too many interim") if refused else contextlib.nullcontext():
            assert client.send(Request(url)).body == b"ok"
    began = time.process_time()
    with pytest.raises(Unreachable):
        client.send(Request(attacker.url("/interim"), deadline=5.0))
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("path", ["/lines", "/extension/0", "/extension/1000"])
def test_row_83_bytes_outside_of_the_response_are_limited(client: GuardedClient, attacker: Attacker, path: str) -> None:
    began, started = time.process_time(), time.monotonic()
    with pytest.raises(Unreachable):
        client.send(Request(attacker.url(path), deadline=5.0))
    assert time.monotonic() - started < SOON
    assert time.process_time() - began < 0.5


def test_a_long_chunked_body_is_read_completely_on_one_connection(client: GuardedClient, attacker: Attacker) -> None:
    for size in (1000, 2000) * 5:
        body = client.send(Request(attacker.url(f"/pieces/{size}"), max_bytes=1 << 30)).body
        assert len(body) == 2000 * size


@pytest.mark.parametrize("extension", ["1", "1000"])
def test_row_83_a_body_in_tiny_chunks_is_refused(client: GuardedClient, attacker: Attacker, extension: str) -> None:
    began = time.process_time()
    with pytest.raises(Unreachable, match=r"chunks for|payload is not completed"):
        client.send(Request(attacker.url(f"/crumbs/{extension}"), deadline=5.0))
    assert time.process_time() - began < 1.0
    assert len(client.send(Request(attacker.url("/pieces/64"))).body) == 128_000


def test_a_request_waiting_for_a_name_server_ends_at_the_deadline(attacker: Attacker) -> None:
    answers = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        answers.wait(60)
        return ["127.0.0.1"]

    try:
        with pytest.raises(TimedOut):
            GuardedClient(Policy(loopback=True), lookup=slow).send(
                Request(attacker.url(host="a.example"), deadline=0.3)
            )
        assert not attacker.requests
    finally:
        answers.set()


def test_redirects_do_not_extend_the_deadline(client: GuardedClient, attacker: Attacker, other: Attacker) -> None:
    started = time.monotonic()
    with pytest.raises(TimedOut):
        client.send(Request(attacker.redirecting(other.redirecting(attacker.url("/slow/3"))), deadline=0.2))
    assert time.monotonic() - started < SOON


# --- size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/endless", "/announced", "/bomb", "/long_header", "/many_headers"])
def test_an_oversized_response_is_cut_off_early(client: GuardedClient, attacker: Attacker, path: str) -> None:
    started = time.monotonic()
    with pytest.raises(TooLarge if path != "/many_headers" else FetchError):
        client.send(Request(attacker.url(path)))
    assert time.monotonic() - started < SOON


def test_a_gzip_bomb_is_decompressed_only_up_to_the_limit(client: GuardedClient, attacker: Attacker) -> None:
    bomb()
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            client.send(Request(attacker.url("/bomb")))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_body_of_exactly_the_limit_is_accepted(client: GuardedClient, attacker: Attacker) -> None:
    for path in ("/document", "/gzip"):
        assert client.send(Request(attacker.url(path), max_bytes=len(DOCUMENT))).body == DOCUMENT
        with pytest.raises(TooLarge):
            client.send(Request(attacker.url(path), max_bytes=len(DOCUMENT) - 1))


# --- form ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("/truncated", "/nothing", "/cut_gzip", "/longer_than_gzip", "/not_gzip"),
        *(
            "/raw?" + quote(text)
            for text in (
                "\x16\x03\x01\x02\x00",
                "SSH-2.0-OpenSSH_9.2\r\n",
                "-ERR unknown command\r\n",
                "HTTP/1.1 abc OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                "HTTP/1.1 200 OK\r\nBad\x00Name: x\r\n\r\n",
                "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
                "<html>hello</html>",
            )
        ),
    ],
)
def test_an_incomplete_http_response_counts_as_unreachable(
    client: GuardedClient, attacker: Attacker, path: str
) -> None:
    with pytest.raises(Unreachable):
        client.send(Request(attacker.url(path), deadline=2))


def test_a_broken_connection_does_not_affect_the_next_request(client: GuardedClient, attacker: Attacker) -> None:
    for path in ("/truncated", "/endless", "/document"):
        with pytest.raises(FetchError) if path != "/document" else open("/dev/null"):
            assert client.send(Request(attacker.url(path))).body == DOCUMENT


def test_a_closed_port_and_an_unknown_name_are_unreachable(client: GuardedClient) -> None:
    with Attacker() as gone:
        url = gone.url()
    with pytest.raises(Unreachable):
        client.send(Request(url))

    def unknown(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    for lookup in (unknown, lambda host, port: [], lambda host, port: ["not an address"]):
        with pytest.raises(Unreachable):
            GuardedClient(Policy(), lookup=lookup).send(Request("https://remote.example/"))


def test_every_failure_is_an_error_of_the_class_unavailable(client: GuardedClient) -> None:
    with pytest.raises(Unavailable) as caught:
        client.send(Request("file:///etc/passwd"))
    assert caught.value.message == "Remote data could not be fetched"


@pytest.mark.parametrize(
    "kind",
    [
        *("text/html", "text/plain", "image/png", "application/json", "application/octet-stream", ""),
        *("application/ld+json", 'application/ld+json; profile="https://example.org/"', "application/activity+jsonx"),
        *("application/activity+json, text/html", "text/html; a=application/activity+json", "garbage"),
    ],
)
def test_a_document_of_another_type_is_not_accepted_as_activitypub(
    client: GuardedClient, attacker: Attacker, kind: str
) -> None:
    with pytest.raises(WrongType):
        client.send(Request(attacker.url(f"/type?{quote(kind)}"), accept=ACTIVITY_TYPES))


def test_a_response_with_two_content_types_is_refused(client: GuardedClient, attacker: Attacker) -> None:
    with pytest.raises(WrongType):
        client.send(Request(attacker.url("/two_types"), accept=ACTIVITY_TYPES))


@pytest.mark.parametrize(
    "kind",
    [
        *("application/activity+json", "Application/Activity+JSON ; charset=utf-8", PROFILE),
        'application/ld+json;charset=utf-8;profile="https://w3id.org/security/v1 https://www.w3.org/ns/activitystreams"',
        "application/ld+json; profile=https://www.w3.org/ns/activitystreams",
    ],
)
def test_activitypub_documents_of_the_types_in_the_contract_are_accepted(
    client: GuardedClient, attacker: Attacker, kind: str
) -> None:
    assert client.send(Request(attacker.url(f"/type?{quote(kind)}"), accept=ACTIVITY_TYPES)).body == DOCUMENT


def test_a_family_of_types_can_be_requested() -> None:
    assert is_acceptable("image/webp", ("image/*",))
    assert is_acceptable("text/html; charset=utf-8", ("text/html", "image/*"))
    assert not is_acceptable("video/mp4", ("image/*",))
    assert not is_acceptable("", ("image/*",))
    assert media_type('text/html; charset="utf-8"; CHARSET=x; broken') == ("text/html", {"charset": "utf-8"})


def test_gzip_is_decompressed_and_every_other_encoding_is_refused(client: GuardedClient, attacker: Attacker) -> None:
    assert client.send(Request(attacker.url("/gzip"))).body == DOCUMENT
    for encoding in ("deflate", "br", "zstd", "gzip, gzip", "compress"):
        with pytest.raises(WrongType):
            client.send(Request(attacker.url(f"/encoding?{quote(encoding)}")))


# --- signing and secrecy ---------------------------------------------------------------------------------------------


def sign(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Mapping[str, str]:
    parts = urlsplit(url)
    assert headers["Host"] == parts.netloc
    assert "user-agent" not in headers
    assert "accept-encoding" not in headers
    return {"Signature": f"{method.lower()} {parts.path} {headers['host']} {headers.get('accept')} {len(body or b'')}"}


def test_each_hop_gets_its_own_signature(client: GuardedClient, attacker: Attacker, other: Attacker) -> None:
    client.send(Request(attacker.redirecting(other.url("/redirect/1")), accept=ACTIVITY_TYPES, signer=sign))
    accept = "application/activity+json, application/ld+json"
    assert [seen.headers["signature"] for seen in attacker.requests + other.requests] == [
        f"get /to 127.0.0.1:{attacker.port} {accept} 0",
        f"get /redirect/1 127.0.0.1:{other.port} {accept} 0",
        f"get /document 127.0.0.1:{other.port} {accept} 0",
    ]


def test_the_signature_of_a_post_request_covers_its_body_and_a_redirect_is_not_followed(
    client: GuardedClient, attacker: Attacker, other: Attacker
) -> None:
    response = client.send(Request(attacker.redirecting(other.url()), method="POST", body=b"12345", signer=sign))
    assert response.status == 307
    assert attacker.requests[0].headers["signature"].endswith(" None 5")
    assert "accept" not in attacker.requests[0].headers, "a delivery does not expect a document"
    assert other.connections == 0


def test_credentials_are_not_sent_to_another_host(client: GuardedClient, attacker: Attacker, other: Attacker) -> None:
    headers = {"Authorization": "Bearer secret", "Cookie": "a=b", "X-Plain": "1"}
    client.send(Request(attacker.redirecting(attacker.redirecting(other.url())), headers=headers))
    assert [("authorization" in seen.headers, "cookie" in seen.headers) for seen in attacker.requests] == [
        (True, True)
    ] * 2
    [seen] = other.requests
    assert "secret" not in str(seen.headers)
    assert "cookie" not in seen.headers
    assert seen.headers["x-plain"] == "1"


def test_cookies_are_neither_stored_nor_sent(client: GuardedClient, attacker: Attacker) -> None:
    client.send(Request(attacker.url("/cookie")))
    assert "cookie" not in json.loads(client.send(Request(attacker.url("/echo"))).body)


def test_proxies_and_passwords_of_the_environment_are_ignored(
    attacker: Attacker, other: Attacker, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("home") / ".netrc"
    netrc.write_text("machine 127.0.0.1 login admin password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "WS_PROXY"):
        monkeypatch.setenv(name, other.url(""))
        monkeypatch.setenv(name.lower(), other.url(""))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    GuardedClient(Policy(loopback=True)).send(Request(attacker.url()))
    assert "authorization" not in attacker.requests[0].headers
    assert other.connections == 0


# --- the client of this server -------------------------------------------------------------------------------------
