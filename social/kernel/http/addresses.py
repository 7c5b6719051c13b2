"""Checks whether addresses are public, and normalises hosts and URLs.

Sources: the IANA IPv4 and IPv6 special-purpose address registries, contract, federation section 16, security row 10.
"""

import functools
import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote

import idna

from social.kernel.http.errors import Refused

Address = IPv4Address | IPv6Address
AddressBlock = IPv4Network | IPv6Network

# The registry calls some of these globally reachable (anycast of IETF protocols, AS112); they are refused too, because no web
# server uses them. `ipaddress.is_global` is not used, because it is True for multicast, 6to4 and NAT64.
_REFUSED: tuple[tuple[AddressBlock, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this host on this network"),  # RFC 791 section 3.2, RFC 1122 section 3.2.1.3
        ("10.0.0.0/8", "private use"),  # RFC 1918
        ("100.64.0.0/10", "shared address space of carriers"),  # RFC 6598
        ("127.0.0.0/8", "loopback"),  # RFC 1122 section 3.2.1.3
        ("168.63.129.16/32", "the platform service of Azure"),  # no RFC: a public address, routed inside Azure
        ("169.254.0.0/16", "link-local, cloud metadata"),  # RFC 3927
        ("172.16.0.0/12", "private use"),  # RFC 1918
        # Contains DS-Lite, PCP and TURN anycast, NAT64 discovery (RFC 7335, RFC 7723, RFC 8155, RFC 8880).
        ("192.0.0.0/24", "IETF protocol assignments"),  # RFC 6890 section 2.1
        ("192.0.2.0/24", "documentation, TEST-NET-1"),  # RFC 5737
        ("192.31.196.0/24", "AS112-v4"),  # RFC 7535
        ("192.52.193.0/24", "automatic multicast tunnelling"),  # RFC 7450
        ("192.88.99.0/24", "6to4 relay anycast"),  # RFC 7526
        ("192.168.0.0/16", "private use"),  # RFC 1918
        ("192.175.48.0/24", "AS112 direct delegation"),  # RFC 7534
        ("198.18.0.0/15", "benchmarking"),  # RFC 2544
        ("198.51.100.0/24", "documentation, TEST-NET-2"),  # RFC 5737
        ("203.0.113.0/24", "documentation, TEST-NET-3"),  # RFC 5737
        ("224.0.0.0/4", "multicast"),  # RFC 5771
        ("240.0.0.0/4", "reserved, limited broadcast"),  # RFC 1112 section 4, RFC 8190, RFC 919 section 7
        ("::/128", "unspecified"),  # RFC 4291 section 2.5.2
        ("::1/128", "loopback"),  # RFC 4291 section 2.5.3
        ("::/96", "IPv4-compatible"),  # RFC 4291 section 2.5.5.1
        ("::ffff:0:0/96", "IPv4-mapped"),  # RFC 4291 section 2.5.5.2
        ("::ffff:0:0:0/96", "IPv4-translated (SIIT)"),  # RFC 2765 section 2.1
        ("64:ff9b::/96", "NAT64"),  # RFC 6052
        ("64:ff9b:1::/48", "local-use NAT64"),  # RFC 8215
        ("100::/64", "discard only"),  # RFC 6666
        ("100:0:0:1::/64", "dummy prefix"),  # RFC 9780
        ("200::/7", "former OSI NSAP mapping"),  # RFC 4048
        ("2001::/32", "Teredo"),  # RFC 4380, RFC 8190
        # Contains benchmarking, AMT, AS112, ORCHID, DRIP (RFC 5180, RFC 7450, RFC 7535, RFC 4843, RFC 7343, RFC 9374).
        ("2001::/23", "IETF protocol assignments"),  # RFC 2928
        ("2001:db8::/32", "documentation"),  # RFC 3849
        ("2002::/16", "6to4"),  # RFC 3056
        ("2620:4f:8000::/48", "AS112 direct delegation"),  # RFC 7534
        ("3ffe::/16", "former 6bone"),  # RFC 3701
        ("3fff::/20", "documentation"),  # RFC 9637
        ("5f00::/16", "segment routing identifiers"),  # RFC 9602
        ("fc00::/7", "unique local"),  # RFC 4193
        ("fe80::/10", "link-local"),  # RFC 4291 section 2.5.6
        ("fec0::/10", "site-local"),  # RFC 3879
        ("ff00::/8", "multicast"),  # RFC 4291 section 2.7
    )
)
# Only this eighth of all addresses has been assigned for unicast (RFC 4291 section 2.4, IANA); all others are refused.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# `is_loopback` is not used, because it includes IPv4-mapped forms in newer versions of Python. An address with a zone does not
# equal `_LOOPBACK_6`, and is refused.
_LOOPBACK = IPv4Network("127.0.0.0/8")
_LOOPBACK_6 = IPv6Address("::1")
# ISATAP hides an IPv4 address behind these interface identifiers under any prefix (RFC 5214 section 6.1).
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
# localhost RFC 6761, local RFC 6762, onion RFC 7686, alt RFC 9476, internal ICANN (2024); i2p is treated like onion (contract,
# federation section 16).
_RESERVED_NAMES = frozenset({"localhost", "local", "onion", "i2p", "alt", "internal"})
_HOME_NETWORK = "home.arpa"  # RFC 8375

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>[^#]*)(?:#.*)?")
_AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:@%]+))(?::(?P<port>[1-9][0-9]{0,4}))?")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")
_URL_CHARACTERS = "%/?:@!$&'()*+,;=[]"
# The characters of a URI outside of its host: brackets are allowed only there (RFC 3986, appendix A).
_URI = re.compile(r"(?:[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": 80, "https": 443}
URL_LENGTH_LIMIT = 8000  # maximum length of a URL, in characters; common servers refuse longer request lines


def refusal(ip: Address) -> str | None:
    """Return why this server never connects to an address, or None for a public unicast address.

    Every IPv6 form that contains an IPv4 address is refused, whatever that address is: mapped, compatible, translated, NAT64,
    6to4, Teredo, ISATAP. An address with a zone is always refused.
    """
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        return "zone identifier"
    reason = next((reason for network, reason in _REFUSED if ip in network), None)
    if reason is not None or isinstance(ip, IPv4Address):
        return reason
    if ip not in _GLOBAL_UNICAST:
        return "not assigned for unicast"
    return "ISATAP" if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP else None


def is_allowed(ip: str | Address, *, loopback: bool = False) -> bool:
    """Tell whether this server may connect to an address; `loopback` adds 127.0.0.0/8 and ::1. False for text that is not
    an address in canonical form.
    """
    if isinstance(ip, str):
        try:
            ip = ip_address(ip)
        except ValueError:
            return False
    if loopback and (ip in _LOOPBACK if isinstance(ip, IPv4Address) else ip == _LOOPBACK_6):
        return True
    return refusal(ip) is None


@dataclass(frozen=True, slots=True)
class Host:
    """Host in the form used in a request: lower-case ASCII labels, or an address."""

    name: str
    address: Address | None = None

    @property
    def written(self) -> str:
        """The spelling in a URL: an IPv6 address in brackets (RFC 3986 section 3.2.2)."""
        return f"[{self.name}]" if isinstance(self.address, IPv6Address) else self.name

    @property
    def is_loopback(self) -> bool:
        """Tell whether the host is this machine: a name under localhost (RFC 6761 section 6.3) or a loopback address."""
        if self.address is not None:
            return self.address.is_loopback
        return self.name == "localhost" or self.name.endswith(".localhost")

    @property
    def is_reserved(self) -> bool:
        """Tell whether the name cannot be in the public DNS: it is a single label, or under a reserved top-level name."""
        if self.address is not None:
            return False
        last = self.name.rpartition(".")[2]
        in_home = self.name == _HOME_NETWORK or self.name.endswith(f".{_HOME_NETWORK}")
        return "." not in self.name or last in _RESERVED_NAMES or in_home


@functools.lru_cache(maxsize=4096)
def canonical_host(raw: str) -> Host:
    """Return the host in its canonical spelling; international names become their A-labels (IDNA 2008).

    Raises Refused for spellings that parsers read differently: decimal, hexadecimal, octal and short addresses, digits and
    dots of other scripts, a trailing dot, empty labels, user names, zones, percent signs.
    """
    if len(raw) > 253:
        raise Refused("the host is longer than a name can be")
    name = raw.lower()
    if not name.isascii():
        # The library would treat the full stops of other scripts as dots.
        if any(dot in name for dot in "。．｡"):
            raise Refused(f"host {raw!r} is not plain")
        try:
            name = idna.encode(unicodedata.normalize("NFC", name)).decode("ascii")
        except UnicodeError as error:
            raise Refused(f"host {raw!r} is not an international domain name: {error}") from None
    labels = name.split(".")
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise Refused(f"host {raw!r} is not plain")
    # A name that ends in a number is an address to some parsers (URL standard, "ends in a number").
    if not _NUMBER.fullmatch(labels[-1]):
        return Host(name)
    try:
        return Host(name, IPv4Address(name))
    except ValueError:
        raise Refused(f"host {raw!r} is not a plain address") from None


def _canonical_ipv6(raw: str) -> Host:
    try:
        address = IPv6Address(raw)
    except ValueError:
        raise Refused(f"host [{raw}] is not an address") from None
    if str(address) != raw.lower():
        raise Refused(f"host [{raw}] is not a plain address")
    return Host(str(address), address)


@dataclass(frozen=True, slots=True)
class Target:
    """URL that is parsed only once, so that the URL requested is the one that was checked."""

    url: str
    scheme: str
    host: Host
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host.name, self.port

    @property
    def netloc(self) -> str:
        """The value of the Host header: with the port only if it is not the scheme's default (RFC 9110 section 7.2)."""
        default = _DEFAULT_PORTS.get(self.scheme) == self.port
        return self.host.written if default else f"{self.host.written}:{self.port}"


def parse_url(url: str) -> Target:
    """Parse an absolute http or https URL; drop the fragment, and escape characters that are not allowed in URLs.

    If the input is already canonical, `Target.url` equals it. Raises Refused for other schemes, control characters,
    backslashes, user names, hosts that `canonical_host` refuses, and more than URL_LENGTH_LIMIT characters.
    """
    if len(url) > URL_LENGTH_LIMIT or _UNPRINTABLE.search(url):
        raise Refused("the URL is too long or has characters that no URL has")
    found = _URL.fullmatch(url)
    scheme = found["scheme"].lower() if found else ""
    if found is None or scheme not in _DEFAULT_PORTS:
        raise Refused(f"not an http or https URL: {url[:100]!r}")
    authority = _AUTHORITY.fullmatch(found["authority"])
    if authority is None:
        raise Refused(f"host {found['authority']!r} is not plain")
    host = _canonical_ipv6(authority["six"]) if authority["six"] else canonical_host(authority["name"])
    port = int(authority["port"] or _DEFAULT_PORTS[scheme])
    if port > 65535:
        raise Refused(f"port {port} does not exist")
    rest = quote(found["rest"], safe=_URL_CHARACTERS)
    if not rest.startswith("/"):
        rest = f"/{rest}"
    target = Target("", scheme, host, port)
    return Target(f"{scheme}://{target.netloc}{rest}", scheme, host, port)


def as_uri(url: str) -> str:
    """Return a URL that another server has written as a URI (RFC 3986): characters that a URI cannot have are escaped, and an
    international host has its A-labels. Some clients drop a whole page of posts if one of its URLs is no URI
    (metabolist/metatext#25, Dimillian/IceCubesApp#209).
    """
    if _URI.fullmatch(url):
        return url
    address, hash_sign, fragment = url.partition("#")
    try:
        target = parse_url(address)
    except Refused:
        origin, rest = "", quote(address, safe=_URL_CHARACTERS)
    else:
        origin = f"{target.scheme}://{target.netloc}"
        rest = target.url.removeprefix(origin)
    rest = f"{rest}{hash_sign}{quote(fragment, safe=_URL_CHARACTERS)}".replace("[", "%5B").replace("]", "%5D")
    return origin + _STRAY_PERCENT.sub("%25", rest)
