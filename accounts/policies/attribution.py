"""Whether an account agrees to be named as the author of pages of a server (contract, entities "attribution_domains")."""

from __future__ import annotations

from collections.abc import Iterable

from social.kernel.text.names import normalise_domain


def is_attributed_from(host: str, domains: Iterable[str]) -> bool:
    """Whether `host` is one of the domains or below one, label by label: `evilexample.com` is not in `example.com`.

    Security row 37. Hosts and domains with a port are compared with it.
    """
    kept = normalise_domain(host)
    if kept is None:
        return False
    allowed = {normalise_domain(domain) for domain in domains}
    labels = kept.split(".")
    return any(".".join(labels[number:]) in allowed for number in range(len(labels)))
