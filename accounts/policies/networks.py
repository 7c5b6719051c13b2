"""Reads networks (ranges of IP addresses), and decides for which of them a block is probably a mistake."""

import ipaddress
from typing import Final

from django.utils.translation import gettext as _

_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")
# This machine (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3) and private networks (RFC 1918, 6598, 4193).
_PROXY_NETWORKS: Final = [
    *(ipaddress.ip_network(name) for name in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    *(ipaddress.ip_network(name) for name in ("100.64.0.0/10", "::1", "fc00::/7")),
]


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return the network of an IP address or CIDR notation, without host bits. Raises ValueError, also for a zone (`%eth0`).

    IPv4 addresses written as IPv6 addresses (`::ffff:192.0.2.0/120`) are read as IPv4, like client addresses.
    """
    if "%" in text:
        raise ValueError(text)
    network = ipaddress.ip_network(text.strip(), strict=False)
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        return ipaddress.IPv4Network((int(network.network_address) & 0xFFFFFFFF, network.prefixlen - 96))
    return network


def is_wide(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    """Tell whether a network is larger than any provider's: its prefix has fewer than 8 bits (IPv4) or 16 bits (IPv6)."""
    return network.prefixlen < (8 if network.version == 4 else 16)


def is_of_proxies(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    """Tell whether a network contains private or loopback addresses, which reverse proxies use (security row 79)."""
    return any(own.version == network.version and network.overlaps(own) for own in _PROXY_NETWORKS)


def warning_about_network(text: str) -> str:
    """Return the reason why a block of this network is probably a mistake; empty if there is none."""
    try:
        network = network_of(text)
    except ValueError:
        return ""
    if is_wide(network):
        return _("This network covers a large part of all addresses on the internet.")
    if is_of_proxies(network):
        return _("Reverse proxies use such addresses: visitors seem to come from proxies not in TRUSTED_PROXIES.")
    return ""
