"""Reads other servers, by the domains of their accounts' addresses and by their hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Domain, Follow
from social.kernel.runner import Host
from social.kernel.terms import TERMS

_SENDING: Final = [queue for queue, terms in TERMS.items() if terms.sends]


def list_failing_hosts() -> QuerySet[Host]:
    """List failing hosts that deliveries go to, or where accounts live that local accounts follow.

    Others are left out, because strangers can cause requests to any host, even to ones that do not exist.
    """
    follows = Follow.objects.filter(account__domain=None, target__domain=OuterRef("name"))
    at_host = Q(name=OuterRef("name")) | Q(host=OuterRef("name"))
    followed = Exists(Domain.objects.filter(at_host, Exists(follows)))
    return Host.objects.filter(Q(queue__in=_SENDING) | followed, failures__gt=0)


def load_names(hosts: Iterable[str]) -> dict[str, list[str]]:
    """Load each host's domains: the host if it is a known domain, else those whose documents it serves, else the host."""
    wanted = list(hosts)
    known = set(Domain.objects.filter(name__one_of=wanted).values_list("name", flat=True))
    at_host = defaultdict(list)
    rows = Domain.objects.filter(host__one_of=wanted).exclude(host="").order_by("name")
    for name, host in rows.values_list("name", "host"):
        at_host[host].append(name)
    return {host: [host] if host in known or host not in at_host else at_host[host] for host in wanted}


def load_hosts(name: str) -> list[str]:
    """Load the hosts to which requests to a server go: its domain, and the host of its documents."""
    hosts = Domain.objects.filter(name=name).exclude(host="").values_list("host", flat=True)
    return list(dict.fromkeys([name, *hosts]))
