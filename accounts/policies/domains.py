"""Which domains can be somebody's on the open network: names, without port, that are no addresses."""

from __future__ import annotations

import re

from social.kernel.text.names import normalise_domain

# What ends in a number is read as an IPv4 address wherever it is used (WHATWG URL, "ends in a number").
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)


def is_address_literal(domain: str) -> bool:
    """Whether an IP address stands where a domain's name is expected, in brackets (RFC 5321 section 4.1.3) or bare."""
    return domain.startswith("[") or _ENDS_IN_NUMBER.fullmatch(domain.strip().removesuffix(".").lower()) is not None


def public_domain(domain: str) -> str | None:
    """The domain as it is kept, or None: no name of two labels or more, an IP address, or with a port."""
    name = normalise_domain(domain)
    return name if name and "." in name and ":" not in name and not is_address_literal(name) else None
