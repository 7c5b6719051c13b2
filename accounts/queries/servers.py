"""Finds other servers by the domains of their accounts' addresses, and by their hosts."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from accounts.models import Domain, Follow
from accounts.policies.domains import domain_and_parents
from social.kernel.runner import Host
from social.kernel.terms import TERMS

_SENDING: Final = [queue for queue, terms in TERMS.items() if terms.sends]


def list_failing_hosts() -> QuerySet[Host]:
    """List failing hosts that deliveries go to, or that have accounts which local accounts follow. Other hosts are left
    out, because strangers can cause requests to any host, even to ones that do not exist.
    """
    follows = Follow.objects.filter(account__domain=None, target__domain=OuterRef("name"))
    at_host = Q(name=OuterRef("name")) | Q(host=OuterRef("name"))
    followed = Exists(Domain.objects.filter(at_host, Exists(follows)))
    return Host.objects.filter(Q(queue__in=_SENDING) | followed, failures__gt=0)


def load_names(hosts: Iterable[str]) -> dict[str, list[str]]:
    """Load the domains of each host: the domains whose documents the host serves, or only the host itself if it is a known
    domain or serves no documents.
    """
    names = list(hosts)
    known = set(Domain.objects.filter(name__one_of=names).values_list("name", flat=True))
    at_host = defaultdict(list)
    rows = Domain.objects.filter(host__one_of=names).exclude(host="").order_by("name")
    for name, host in rows.values_list("name", "host"):
        at_host[host].append(name)
    return {host: [host] if host in known or host not in at_host else at_host[host] for host in names}


def load_hosts(name: str) -> list[str]:
    """Load the hosts to which requests to a server go: its domain, and the host of its documents."""
    hosts = Domain.objects.filter(name=name).exclude(host="").values_list("host", flat=True)
    return list(dict.fromkeys([name, *hosts]))


_NAMED: Final = 10


@dataclass
class FollowsUnder:
    """Follows by local accounts (`from_here`) and by remote ones (`to_here`): numbers, and examples as (follower, followed)."""

    from_here: int = 0
    to_here: int = 0
    named: list[tuple[str, str]] = field(default_factory=list)


def load_follows_under(domains: Iterable[str]) -> dict[str, FollowsUnder]:
    """Load, by domain, the follows between local accounts and accounts of these domains and their subdomains. Domains
    without follows are left out. Takes five queries.
    """
    domain_names = set(domains)
    if not domain_names:
        return {}
    above = find_known_under(domain_names)
    counted: dict[str, FollowsUnder] = {}
    names = list(above)
    outgoing = Follow.objects.filter(account__domain=None, target__domain__one_of=names)
    incoming = Follow.objects.filter(target__domain=None, account__domain__one_of=names)
    for rows, column, number in (
        (outgoing, "target__domain", "from_here"),
        (incoming, "account__domain", "to_here"),
    ):
        for server, count in rows.order_by().values_list(column).annotate(Count("id")):
            entry = counted.setdefault(above[server], FollowsUnder())
            setattr(entry, number, getattr(entry, number) + count)
        place = Window(RowNumber(), partition_by=F(column), order_by=F("id").asc())
        examples = rows.annotate(place=place).filter(place__lte=_NAMED).order_by(column, "id")
        names_of_both = ("account__username", "account__domain", "target__username", "target__domain")
        for follower, home, followed, place_of_followed in examples.values_list(*names_of_both):
            server = place_of_followed if column == "target__domain" else home
            entry = counted[above[server]]
            if len(entry.named) < _NAMED:
                entry.named.append((_address(follower, home), _address(followed, place_of_followed)))
    return counted


def find_known_under(domains: Collection[str]) -> dict[str, str]:
    """Return the known servers with one of these domains or a subdomain, each mapped to its longest match, in one query."""
    above = {}
    for name in Domain.objects.values_list("name", flat=True).iterator(chunk_size=2000):
        domain = next((parent for parent in domain_and_parents(name.partition(":")[0]) if parent in domains), None)
        if domain is not None:
            above[name] = domain
    return above


def _address(username: str, domain: str | None) -> str:
    return f"@{username}@{domain}" if domain else f"@{username}"
