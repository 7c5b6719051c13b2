"""Reads networks (ranges of IP addresses), and says which are too wide to be blocked on purpose."""

from __future__ import annotations

import ipaddress

from django.utils.translation import gettext as _


def network_of(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    """Return the network that `text` denotes: an IP address, or CIDR notation, whose host bits are ignored. Raises ValueError
    for any other text, and for an address of one interface (`fe80::1%eth0`), which is valid on one machine only.
    """
    if "%" in text:
        raise ValueError(text)
    return ipaddress.ip_network(text.strip(), strict=False)


def is_wide(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    """Tell whether a network is larger than that of any single provider: IPv4 prefixes shorter than 8 bits, IPv6
    prefixes shorter than 16.
    """
    return network.prefixlen < (8 if network.version == 4 else 16)


def warning_about_network(text: str) -> str:
    """Return the reason why a block of this network is probably a mistake; empty if there is none."""
    try:
        wide = is_wide(network_of(text))
    except ValueError:
        return ""
    return _("This network covers a large part of all addresses on the internet.") if wide else ""
