"""Reads what is known of other servers, by the names that people's addresses have and those of their hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Domain, Follow
from social.kernel.runner import Host
from social.kernel.terms import TERMS

_SENDING: Final = [queue for queue, terms in TERMS.items() if terms.sends]


def list_troubled() -> QuerySet[Host]:
    """The hosts that do not answer as they should and that somebody here has to do with: what is sent to them fails, or
    people of theirs are followed from here. Any stranger can name other ones, which there may not be.
    """
    follows = Follow.objects.filter(account__domain=None, target__domain=OuterRef("name"))
    at_host = Q(name=OuterRef("name")) | Q(host=OuterRef("name"))
    followed = Exists(Domain.objects.filter(at_host, Exists(follows)))
    return Host.objects.filter(Q(queue__in=_SENDING) | followed, failures__gt=0)


def load_names(hosts: Iterable[str]) -> dict[str, list[str]]:
    """The servers at each of these hosts, by the names in people's addresses: the one that has the host's name, else those
    whose documents are there, else the host's own name, as of a relay.
    """
    wanted = list(hosts)
    known = set(Domain.objects.filter(name__one_of=wanted).values_list("name", flat=True))
    at_host = defaultdict(list)
    rows = Domain.objects.filter(host__one_of=wanted).exclude(host="").order_by("name")
    for name, host in rows.values_list("name", "host"):
        at_host[host].append(name)
    return {host: [host] if host in known or host not in at_host else at_host[host] for host in wanted}


def load_hosts(name: str) -> list[str]:
    """The names of a server under which anything is sent to it: its own, and that of the host of its documents."""
    hosts = Domain.objects.filter(name=name).exclude(host="").values_list("host", flat=True)
    return list(dict.fromkeys([name, *hosts]))
