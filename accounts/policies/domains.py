"""Rules of domains: which may exist on the public internet, and whose links may credit an account as their author."""

import re
from collections.abc import Iterable

from social.kernel.text.names import display_domain, normalise_domain

# A host that ends in a number is parsed as an IPv4 address everywhere (WHATWG URL, "ends in a number").
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)


def is_address_literal(domain: str) -> bool:
    """Tell whether `domain` is in fact an IP address, in brackets (RFC 5321 section 4.1.3) or bare."""
    return domain.startswith("[") or _ENDS_IN_NUMBER.fullmatch(domain.strip().removesuffix(".").lower()) is not None


def public_domain(domain: str) -> str | None:
    """Return the normalised domain; None for a name of one label, an IP address, or a name with a port."""
    name = normalise_domain(domain)
    return name if name and "." in name and ":" not in name and not is_address_literal(name) else None


def domain_and_parents(domain: str) -> list[str]:
    """Return the domain and its parent domains, whose blocks apply to it: `a.b.example`, `b.example`, `example`."""
    labels = domain.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]


def is_attributed_from(host: str, domains: Iterable[str]) -> bool:
    """Tell whether `host`, with its port, is one of the domains or a subdomain of one of them (security row 37)."""
    own_domain = normalise_domain(host)
    if own_domain is None:
        return False
    # The domains are compared without normalising them, because a remote account may list hundreds of domains, which
    # would take a long time to normalise (security row 78).
    allowed = {domain.strip().lower().removesuffix(".") for domain in domains}
    spellings = (own_domain.split("."), display_domain(own_domain).split("."))
    return any(".".join(labels[number:]) in allowed for labels in spellings for number in range(len(labels)))
