"""The IP address of a request's client, and the network under which rate limits count it.

Only the proxies in `settings.TRUSTED_PROXIES` are trusted (security row 25: any client can write X-Forwarded-For).
"""

import ipaddress
from functools import lru_cache
from typing import Any

from django.conf import settings

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
UNKNOWN = "0.0.0.0"  # noqa: S104  (stands for no address: a local socket without a proxy)
#: The maximum length of an address with brackets, zone and port.
_ADDRESS_LENGTH = 80


def client_ip(request: Any) -> str:
    """Return the client's IP address (`request.client_ip`) of a request that passed RequestMiddleware."""
    address: str = getattr(request, "client_ip", None) or find(request.META)
    return address


def find(meta: dict[str, Any]) -> str:
    """Return the client's IP address from the WSGI environment `meta`, in canonical form."""
    peer, proxies = _parse(meta.get("REMOTE_ADDR") or ""), settings.TRUSTED_PROXIES
    forwarded = meta.get("HTTP_X_FORWARDED_FOR") or ""
    if forwarded and _is_trusted(peer, proxies):
        # The entries are read from the right, because our peer, a proxy, has written the last entry. Entries to the left of the
        # first untrusted address were written by that untrusted client.
        for part in reversed(forwarded[-2048:].split(",")):
            hop = _parse(part)
            if hop is None:
                break
            peer = hop
            if not _is_trusted(hop, proxies):
                break
    return str(peer) if peer is not None else UNKNOWN


def is_trusted(remote: str) -> bool:
    """Tell whether the peer at the address `remote` is a trusted proxy.

    If so, its X-Forwarded-Proto header can also be trusted.
    """
    return _is_trusted(_parse(remote), settings.TRUSTED_PROXIES)


def rate_key(address: str) -> str:
    """Return the key under which rate limits count an address: the IPv4 address, or the IPv6 /64 (usually one customer)."""
    parsed = _parse(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return f"{ipaddress.IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed) if parsed is not None else UNKNOWN


def connection_key(address: str) -> str | None:
    """Return the key under which the open connections of an address are counted; None for trusted proxies and private networks.

    A private address is assumed to belong to a proxy, whose clients would otherwise share one limit.
    """
    parsed = _parse(address)
    if parsed is None or not parsed.is_global or _is_trusted(parsed, settings.TRUSTED_PROXIES):
        return None
    return rate_key(address)


def _is_trusted(peer: ipaddress.IPv4Address | ipaddress.IPv6Address | None, proxies: tuple[_Network, ...]) -> bool:
    if not proxies:
        return False
    if peer is None:
        return True  # a Unix socket: if proxies are configured, any process that can open it counts as a trusted proxy
    return any(peer in network for network in proxies)


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    text = text.strip()
    # The cache is bounded in the number and the length of its entries, since any client can write X-Forwarded-For (security row
    # 68).
    return _parse_short(text) if len(text) <= _ADDRESS_LENGTH else None


@lru_cache(maxsize=1024)
def _parse_short(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
