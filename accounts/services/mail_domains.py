"""Asks whether the domain of an e-mail address takes mail, where the operator wants that."""

from __future__ import annotations

from django.conf import settings

from social.kernel.http.mail_domains import find_mail_hosts
from social.kernel.text.names import normalise_domain


def look_up_mail_hosts(email: str) -> list[str] | None:
    """The hosts that take mail for an address; empty when none does or the DNS is silent, None when nobody is to be asked
    (CHECK_EMAIL_DOMAINS, off by default).

    Takes at most four seconds, outside of a transaction. Raises Unavailable when too many web requests wait for other
    machines.
    """
    if not settings.CHECK_EMAIL_DOMAINS:
        return None
    domain = normalise_domain(email.rpartition("@")[2])
    return [] if domain is None else find_mail_hosts(domain)
