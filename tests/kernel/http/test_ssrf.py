"""Tests that nobody can make this server connect to addresses of its own network (security rows 7 and 10)."""

import sys
from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from urllib.parse import quote

import pytest

from social.kernel.http.client import FetchError, GuardedClient, Policy, Refused, Request, TooManyRedirects
from social.kernel.http.resolver import CheckedResolver
from tests.kernel.http.attacker import Attacker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs all of 127.0.0.0/8")

PUBLIC = "127.0.0.2"
"""An address that counts as public in these tests, because of an exception in the policy."""


class Dns:
    """A name server that returns its answers in order, and then repeats the last one."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def victim() -> Iterator[Attacker]:
    """An internal service on the loopback address."""
    with Attacker() as server:
        yield server


@pytest.fixture
def outside(victim: Attacker) -> Iterator[Attacker]:
    """A public server on the same port as the internal service."""
    with Attacker(host=PUBLIC, port=victim.port) as server:
        yield server


def guarded(port: int, dns: Dns) -> GuardedClient:
    policy = Policy(ports=frozenset({port, 80, 443}), exceptions=(ip_network(PUBLIC),))
    return GuardedClient(policy, lookup=dns)


def get(client: GuardedClient, url: str, **options: object) -> bytes:
    return client.send(Request(url, deadline=2.0, schemes=("http", "https"), **options)).body


DISGUISES = {
    "plain": "127.0.0.1",
    "decimal": "2130706433",
    "hexadecimal": "0x7f000001",
    "dotted hexadecimal": "0x7f.0x0.0x0.0x1",
    "octal": "0177.0.0.1",
    "padded octal": "00000177.0.0.1",
    "short": "127.1",
    "trailing dot": "127.0.0.1.",
    "full-width digits": "１２７.０.０.１",
    "circled digits": "①②⑦.⓪.⓪.①",
    "ideographic full stops": "127。0。0。1",
    "percent-encoded": "%31%32%37.0.0.1",
    "unspecified": "0.0.0.0",
    "user name": "remote.example@127.0.0.1",
    "backslash": "127.0.0.1\\@remote.example",
    "localhost": "localhost",
    "name under localhost": "remote.localhost",
    "name that resolves to it": "remote.example",
    "IPv6 loopback": "[::1]",
    "long IPv6 loopback": "[0:0:0:0:0:0:0:1]",
    "IPv6 unspecified": "[::]",
    "IPv4-mapped": "[::ffff:127.0.0.1]",
    "IPv4-mapped in hexadecimal": "[::ffff:7f00:1]",
    "IPv4-compatible": "[::127.0.0.1]",
    "IPv4-translated": "[::ffff:0:7f00:1]",
    "NAT64": "[64:ff9b::7f00:1]",
    "local NAT64": "[64:ff9b:1::7f00:1]",
    "6to4": "[2002:7f00:1::]",
    "Teredo": "[2001:0:7f00:1::80ff:fffe]",
    "ISATAP": "[2606:4700::5efe:7f00:1]",
    "zone": "[fe80::1%25lo]",
    "carrier": "100.64.0.1",
    "metadata": "169.254.169.254",
    "metadata of EC2 over IPv6": "[fd00:ec2::254]",
}


@pytest.mark.parametrize("host", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_private_address_is_refused_in_every_spelling(victim: Attacker, host: str) -> None:
    client = guarded(victim.port, Dns(["127.0.0.1"]))
    with pytest.raises(Refused):
        get(client, f"http://{host}:{victim.port}/document")
    assert victim.connections == 0


@pytest.mark.parametrize("host", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_redirect_to_a_private_address_is_refused_in_every_spelling(
    victim: Attacker, outside: Attacker, host: str
) -> None:
    client = guarded(victim.port, Dns(["127.0.0.1"]))
    with pytest.raises(Refused):
        get(client, outside.redirecting(f"http://{host}:{victim.port}/document"))
    assert (victim.connections, outside.connections) == (0, 1)


@pytest.mark.parametrize(
    "answer",
    ["10.0.0.1", "192.168.1.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1%lo", "64:ff9b::7f00:1"],
)
def test_a_name_that_resolves_to_a_private_address_is_refused(victim: Attacker, answer: str) -> None:
    with pytest.raises(Refused):
        get(guarded(victim.port, Dns([answer])), victim.url(host="rebind.example"))


def test_the_connection_goes_to_the_checked_address_even_if_the_dns_answer_changes(
    victim: Attacker, outside: Attacker
) -> None:
    dns = Dns([PUBLIC], ["127.0.0.1"])
    client = guarded(victim.port, dns)
    url = outside.url(host="rebind.example")
    assert get(client, url)
    assert dns.asked == ["rebind.example"]
    client.close()
    with pytest.raises(Refused):
        get(client, url)
    assert (victim.connections, outside.connections) == (0, 1)


def test_the_socket_refuses_an_address_that_the_resolver_missed(
    victim: Attacker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lie(self: CheckedResolver, host: str, port: int, family: int = 0) -> list[dict[str, object]]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr(CheckedResolver, "resolve", lie)
    with pytest.raises(Refused):
        get(guarded(victim.port, Dns([PUBLIC])), victim.url(host="rebind.example"))
    assert victim.connections == 0


def test_only_the_public_addresses_of_a_dns_answer_are_used(victim: Attacker, outside: Attacker) -> None:
    assert get(guarded(victim.port, Dns(["127.0.0.1", PUBLIC, "::1"])), victim.url(host="mixed.example"))
    assert (victim.connections, outside.connections) == (0, 1)


def test_at_most_two_addresses_of_a_family_are_considered(victim: Attacker, outside: Attacker) -> None:
    with pytest.raises(Refused):
        get(guarded(victim.port, Dns(["127.0.0.1", "127.0.0.3", PUBLIC])), victim.url(host="many.example"))
    assert outside.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        *(
            "http://169.254.169.254/latest/meta-data/",
            "https://169.254.169.254/",
            "//169.254.169.254/",
            "file:///etc/passwd",
        ),
        *("gopher://127.0.0.1:6379/_FLUSHALL", "ftp://remote.example/", "data:text/plain,x", "unix:///run/redis.sock"),
        *(
            "http://remote.example:22/",
            "http://remote.example:6379/",
            "https://user@remote.example/",
            "http://[",
        ),
        *("//[::1]/", "/\\127.0.0.1/", "http://remote.example\\@127.0.0.1/"),
    ],
)
def test_a_redirect_to_another_scheme_is_refused(outside: Attacker, location: str) -> None:
    client = guarded(outside.port, Dns([PUBLIC]))
    with pytest.raises(Refused):
        get(client, outside.redirecting(location))


def test_a_redirect_with_invalid_bytes_is_refused(outside: Attacker) -> None:
    response = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://caf\xe9.example/\r\n\r\n"
    with pytest.raises(Refused):
        get(guarded(outside.port, Dns([PUBLIC])), outside.url(f"/raw?{quote(response)}"))


def test_a_redirect_from_https_to_http_is_refused_where_only_https_is_allowed(outside: Attacker) -> None:
    with pytest.raises(Refused, match="scheme http"):
        guarded(outside.port, Dns([PUBLIC])).send(Request(outside.url()))
    assert outside.connections == 0


@pytest.mark.parametrize("port", [1, 22, 25, 81, 5432, 6379, 8000, 8443])
def test_ports_other_than_80_and_443_are_refused(port: int) -> None:
    dns = Dns([PUBLIC])
    with pytest.raises(Refused, match=f"port {port} "):
        GuardedClient(Policy(), lookup=dns).send(Request(f"https://remote.example:{port}/"))
    assert dns.asked == []


@pytest.mark.parametrize("name", ["intranet", "printer.local", "a.internal", "x.onion", "x.i2p", "router.home.arpa"])
def test_names_outside_the_public_dns_are_never_resolved(name: str) -> None:
    dns = Dns([PUBLIC])
    with pytest.raises(Refused):
        GuardedClient(Policy(loopback=True), lookup=dns).send(Request(f"https://{name}/"))
    assert dns.asked == []


@pytest.mark.parametrize(
    "name", ["social.example", "SOCIAL.example", "social.example:443", "web.example", "bücher.example"]
)
def test_this_server_sends_no_requests_to_itself(name: str) -> None:
    dns = Dns([PUBLIC])
    own = frozenset({"social.example", "web.example", "xn--bcher-kva.example"})
    with pytest.raises(Refused, match="ask itself"):
        GuardedClient(Policy(own_domains=own), lookup=dns).send(Request(f"https://{name}/media/upload.json"))
    assert dns.asked == []


def test_a_redirect_back_to_this_server_is_refused(outside: Attacker) -> None:
    policy = Policy(True, frozenset({"social.example"}))
    with pytest.raises(Refused, match="ask itself"):
        get(GuardedClient(policy), outside.redirecting("https://social.example/"))


def test_three_redirects_are_followed_and_the_last_address_is_returned(
    client: GuardedClient, outside: Attacker
) -> None:
    response = client.send(Request(outside.url("/redirect/3")))
    assert (response.status, response.url) == (200, outside.url("/document"))
    with pytest.raises(TooManyRedirects):
        client.send(Request(outside.url("/redirect/4")))
    with pytest.raises(TooManyRedirects):
        client.send(Request(outside.url("/redirect/1"), redirects=0))


def test_the_returned_address_is_that_of_the_responding_host(
    client: GuardedClient, victim: Attacker, outside: Attacker
) -> None:
    assert client.send(Request(victim.redirecting(outside.url()))).url == outside.url()


def test_the_message_of_a_refusal_contains_no_address(victim: Attacker) -> None:
    with pytest.raises(FetchError) as caught:
        get(guarded(victim.port, Dns(["10.1.2.3"])), victim.url(host="rebind.example"))
    assert caught.value.message == "Remote data could not be fetched"
    assert caught.value.extra == {}
    assert "rebind.example" in str(caught.value)
