"""Tests that this server only connects to permitted addresses, in whatever notation they are written."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from social.kernel.http.addresses import as_uri, canonical_host, is_allowed, parse_url, refusal
from social.kernel.http.errors import Refused

REFUSED = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 127.255.255.254 168.63.129.16
169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.192 192.0.2.1 192.31.196.1
192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7
203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
:: ::1 ::1%lo ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:7f00:1 ::ffff:0:808:808
64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::a00:1 64:ff9b:1:ffff::808:808 64:ff9b:2::1
100::1 100:0:0:1::1 200::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1
2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 2620:4f:8000::1
3ffe::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254 fdff::1 fe00::1 fe80::1 fe80::1%eth0
febf::1 fec0::1 ff02::1 ff0e::1 2606:4700::5efe:7f00:1 2606:4700::200:5efe:a00:1 2606:4700::1%eth0
""".split()  # noqa: SIM905  (a table is read more easily than a list)
ALLOWED = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.17 169.253.1.1
169.255.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.0.3.1 192.88.98.1 192.167.1.1 192.169.1.1 198.17.255.255 198.20.0.1
198.51.101.1 203.0.112.1 203.0.114.1 223.255.255.255
2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1 2606:4700:4700::1111 2620:4f:8001::1 2a01:4f8::1
3fff:1000::1
""".split()  # noqa: SIM905  (a table is read more easily than a list)


@pytest.mark.parametrize("address", REFUSED)
def test_connections_are_made_only_to_public_addresses(address: str) -> None:
    assert not is_allowed(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_next_to_the_special_ranges_are_allowed(address: str) -> None:
    assert is_allowed(address)


def test_the_tables_of_allowed_and_refused_addresses_are_complete() -> None:
    assert len(REFUSED) + len(ALLOWED) >= 60


def test_federation_loopback_allows_this_machine_but_no_other_private_address() -> None:
    assert [address for address in REFUSED if is_allowed(address, loopback=True)] == [
        "127.0.0.1",
        "127.255.255.254",
        "::1",
    ]


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.1.1.1 "])
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    assert not is_allowed(text, loopback=True)


@given(st.integers(0, 2**32 - 1) | st.sampled_from([int(ipaddress.IPv4Address(a)) for a in REFUSED if ":" not in a]))
def test_no_allowed_ipv4_address_is_special_to_python(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    assert not is_allowed(address) or (address.is_global and not address.is_multicast)


@given(st.integers(0x2000 << 112, (0x4000 << 112) - 1) | st.integers(0, 2**128 - 1))
def test_no_allowed_ipv6_address_is_special_to_python_or_contains_an_ipv4_address(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    if is_allowed(address):
        assert address.is_global
        assert not address.is_multicast
        assert (address.ipv4_mapped, address.sixtofour, address.teredo) == (None, None, None)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("1.1.1.1", None),
        ("169.254.169.254", "link-local, cloud metadata"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::127.0.0.1", "IPv4-compatible"),
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("::ffff:0:7f00:1", "IPv4-translated (SIIT)"),
        ("64:ff9b::7f00:1", "NAT64"),
        ("64:ff9b:1::7f00:1", "local-use NAT64"),
        ("100::1", "discard only"),
        ("100:0:0:1::1", "dummy prefix"),
        ("200::1", "former OSI NSAP mapping"),
        ("2001:0:4136:e378::1", "Teredo"),
        ("2001:2::1", "IETF protocol assignments"),
        ("2002:7f00:1::", "6to4"),
        ("2606:4700::5efe:7f00:1", "ISATAP"),
        ("2606:4700::1%eth0", "zone identifier"),
        ("5f00::1", "segment routing identifiers"),
        ("fd00::1", "unique local"),
        ("fe80::1", "link-local"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "not assigned for unicast"),
    ],
)
def test_each_kind_of_refused_address_has_its_reason(address: str, reason: str | None) -> None:
    assert refusal(ipaddress.ip_address(address)) == reason


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Social.Example", "social.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("例え.jp", "xn--r8jz45g.jp"),
        ("xn--i-7iq.ws", "xn--i-7iq.ws"),
        ("some_user.blog.example", "some_user.blog.example"),
        ("1.2.3.example", "1.2.3.example"),
        ("8.8.8.8", "8.8.8.8"),
        ("a" * 63 + ".example", "a" * 63 + ".example"),
    ],
)
def test_hosts_get_a_canonical_spelling(raw: str, name: str) -> None:
    assert canonical_host(raw).name == name


@pytest.mark.parametrize(
    "raw",
    [
        *("", ".", "a..example", ".example", "example.", "-a.example", "a-.example", "a b.example", "a,b.example"),
        *("a" * 64 + ".example", "a." * 127 + "ab", "ex%61mple.org", "user@example.org", "example.org:80", "[::1]"),
        *("127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1.", "0x"),
        *(
            "１２７.0.0.1",
            "127。0。0。1",
            "①②⑦.⓪.⓪.①",
            "a．example",
            "ａ.example",
            "exa\u200bmple.org",
            "i❤.ws",
            "1.2.3.256",
        ),
    ],
)
def test_spellings_that_parsers_interpret_differently_are_refused(raw: str) -> None:
    with pytest.raises(Refused):
        canonical_host(raw)


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("https://remote.example/users/a?page=1&b[]=%C3%A9", None),
        ("https://remote.example/@a/../b/./c;d=e", None),
        ("https://remote.example:443/a", "https://remote.example/a"),
        ("https://remote.example:80/a", None),
        ("HTTPS://Remote.Example", "https://remote.example/"),
        ("https://remote.example?q#f", "https://remote.example/?q"),
        ("https://remote.example/users/a#main-key", "https://remote.example/users/a"),
        ("https://bücher.example/ñ and ü", "https://xn--bcher-kva.example/%C3%B1%20and%20%C3%BC"),
        ("https://[2606:4700:4700::1111]/", None),
    ],
)
def test_a_canonical_url_is_requested_unchanged_and_others_are_escaped(url: str, requested: str | None) -> None:
    assert parse_url(url).url == (requested or url)


@pytest.mark.parametrize(
    "url",
    [
        *("", "remote.example", "//remote.example/", "file:///etc/passwd", "ftp://a.example/", "gopher://a.example/"),
        *("data:text/html,x", "javascript:alert(1)", "unix:///run/redis.sock", "https:/a.example", "https:///a"),
        *(
            "https://user@a.example/",
            "https://user:pw@a.example/",
            "https://a.example@b.example/",
            "https://@a.example/",
        ),
        *(
            "https://a.example\\@b.example/",
            "https://a.example/\r\nHost: b",
            "https://a.example/\x00",
            " https://a.example",
        ),
        *("https://a.example:/", "https://a.example:0/", "https://a.example:0443/", "https://a.example:65536/"),
        *(
            "https://a.example:４４３/",
            "https://a.example:-1/",
            "https://[::1%25lo]/",
            "https://[::1%lo]/",
            "https://[::1/",
        ),
        *("https://[0:0:0:0:0:0:0:1]/", "https://[::ffff:127.0.0.1]/", "https://[v1.a]/", "https://::1/"),
        *("https://a.example/\ud800", "https://a.example/" + "a" * 8000, "https://%61.example/"),
    ],
)
def test_urls_that_hide_their_destination_are_refused(url: str) -> None:
    with pytest.raises(Refused):
        parse_url(url)


@pytest.mark.parametrize(
    ("url", "uri"),
    [
        ("https://a.example/p?q=1&r[]=2#part", "https://a.example/p?q=1&r%5B%5D=2#part"),
        ("https://a.example/%C3%BC", "https://a.example/%C3%BC"),
        ("https://telegra.ph/タグ", "https://telegra.ph/%E3%82%BF%E3%82%B0"),
        ("https://bücher.example/ä b|c#ü", "https://xn--bcher-kva.example/%C3%A4%20b%7Cc#%C3%BC"),
        ("https://a.example/100%", "https://a.example/100%25"),
        ("https://[2001:4860::1]/ü", "https://[2001:4860::1]/%C3%BC"),
        ("https://me@a.example/ü", "https://me@a.example/%C3%BC"),
        ("acct:zoé@a.example", "acct:zo%C3%A9@a.example"),
        ("", ""),
    ],
)
def test_a_url_of_another_server_is_shown_as_a_uri(url: str, uri: str) -> None:
    assert as_uri(url) == uri
    assert as_uri(uri) == uri
