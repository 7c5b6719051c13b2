"""Looks up the mail servers of a domain in the DNS (RFC 5321 section 5.1, RFC 7505)."""

import time

import dns.exception
import dns.rdatatype
import dns.resolver

from social.kernel.http.limits import spending

LOOKUP_SECONDS: float = 4.0  # time for all queries about one domain together, in seconds


def make_resolver() -> dns.resolver.Resolver:
    """Make a resolver that asks the name servers of the operating system. Raises DNSException when there are none."""
    return dns.resolver.Resolver()


def find_mail_hosts(domain: str) -> list[str]:
    """Return the hosts of a domain's MX records, or the domain itself when it has an address but no MX record.

    The names are in lower case and have no final dot.

    The list is empty if the domain does not exist or refuses mail (a null MX), or if the DNS does not answer within
    LOOKUP_SECONDS. `domain` is in Punycode. Must not be called inside a transaction, because it waits for other machines.
    Raises Exhausted in a web request whose network time is spent.
    """
    with spending(LOOKUP_SECONDS) as granted:
        return _find(domain, time.monotonic() + granted)


def _find(domain: str, end: float) -> list[str]:
    try:
        resolver = make_resolver()
        found = _ask(resolver, domain, dns.rdatatype.MX, end)
        if found:
            hosts = [str(record.exchange).rstrip(".").lower() for record in found]
            return [host for host in hosts if host]
        addressed = _ask(resolver, domain, dns.rdatatype.A, end) or _ask(resolver, domain, dns.rdatatype.AAAA, end)
    except dns.exception.DNSException:
        return []
    return [domain.lower()] if addressed else []


def _ask(
    resolver: dns.resolver.Resolver, domain: str, kind: dns.rdatatype.RdataType, end: float
) -> dns.resolver.Answer | None:
    """Return the answer; None for a name without records of this `kind`.

    Raises DNSException if the name is unknown or there is no answer.
    """
    try:
        return resolver.resolve(f"{domain}.", kind, search=False, lifetime=max(0.001, end - time.monotonic()))
    except dns.resolver.NoAnswer:
        return None
