"""Reads blocklists, their entries and the servers that no list may block; makes dry runs of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import AuditEntry
from accounts.queries.domain_follows import FollowsUnder, find_known_under, load_follows_under
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryState, EntryStep
from moderation.blocklists.policies import (
    FAILURE_LIMIT,
    Decision,
    Effect,
    decide,
    effect_of,
    is_related,
    parents_of,
    taken_of,
)
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.policies.domain_rules import names_of
from social.kernel import clock
from social.kernel.errors import require_found
from social.kernel.statements import rows_of

COUNT_LIMIT: Final = 200_000
"""Counting of accounts with their posts ends here, so that very large servers do not take minutes."""

LOG_LIMIT: Final = 20
SERVERS_LIMIT: Final = 100
# The posts are those that were counted when they came, so that none of them is read here.
_COUNTS: Final = """
SELECT server, count(*), coalesce(sum(statuses_count), 0)::bigint FROM (
    SELECT lower(a.domain) AS server, s.statuses_count
      FROM accounts_account a LEFT JOIN accounts_accountstat s ON s.account_id = a.id
     WHERE lower(a.domain) = ANY(%(names)s) AND a.suspended_at IS NULL LIMIT %(limit)s
) AS known GROUP BY server
"""


def find_blocklist(name: str) -> Blocklist:
    """Return the list with this name or address. Raises NotFound."""
    return require_found(Blocklist.objects.filter(Q(name=name) | Q(url=name)).first())


def list_waiting() -> QuerySet[BlocklistEntry]:
    """Return the entries that wait for a decision."""
    return BlocklistEntry.objects.filter(state=EntryState.WAITING)


def list_drafts() -> QuerySet[BlocklistEntry]:
    """Return the entries that wait for a decision about a new or changed rule, with their lists; entries that would end a rule
    are left out.
    """
    asking = list_waiting().filter(listed=True, step__in=[EntryStep.BLOCK, EntryStep.CHANGE])
    return asking.select_related("blocklist")


def list_subscriptions() -> QuerySet[Blocklist]:
    """Return the lists that staff have not removed."""
    return Blocklist.objects.filter(ending=False)


def load_creators(target_type: str, ids: Iterable[int], action: str = "create") -> dict[int, int]:
    """Return the accounts of those who have made these rows, by the ids of the rows; without rows made at the command line."""
    made = AuditEntry.objects.filter(target_type=target_type, target_id__one_of=list(ids), action=action)
    return {row_id: maker for row_id, maker in made.values_list("target_id", "account_id") if maker is not None}


def list_failing() -> QuerySet[Blocklist]:
    """Return the enabled lists that have failed to be fetched for longer than FAILURE_LIMIT."""
    return Blocklist.objects.filter(enabled=True, failing_since__lt=clock.now() - FAILURE_LIMIT).order_by("name")


def count_entries(rows: QuerySet[Blocklist]) -> QuerySet[Blocklist]:
    """Return lists, each with the number of its entries that are `in_force`, and that are `waiting` for a decision."""
    return rows.annotate(
        in_force=Count("entries", filter=Q(entries__taken_severity__isnull=False)),
        waiting=Count("entries", filter=Q(entries__state=EntryState.WAITING)),
    )


def load_entries(blocklist: Blocklist) -> dict[str, BlocklistEntry]:
    """Return all entries of a list by domain."""
    return {entry.domain: entry for entry in BlocklistEntry.objects.filter(blocklist_id=blocklist.pk)}


def kept_reason(blocklist: Blocklist) -> str:
    """Return the stored reason why changes of an automatic list wait; empty when no entry waits for this reason any more."""
    reason = blocklist.held_reason
    return reason if reason and blocklist.entries.filter(state=EntryState.WAITING, note=reason).exists() else ""


def list_provenance(domain: str) -> list[BlocklistEntry]:
    """Return the entries of all lists for exactly this server, the earliest first, with their lists."""
    rows = BlocklistEntry.objects.filter(domain=domain, blocklist__isnull=False).select_related("blocklist")
    return list(rows.order_by("created_at", "id"))


def list_log(blocklist: Blocklist) -> list[AuditEntry]:
    """Return the last audit rows about a list."""
    rows = AuditEntry.objects.filter(target_type="Blocklist", target_id=blocklist.pk)
    return list(rows.order_by("-id")[:LOG_LIMIT])


def load_protection(domains: Sequence[str]) -> dict[str, str]:
    """Return the reasons why no list may block certain servers, by domain, in two queries. Protected are exceptions, allowed
    servers and this server; servers that a list may block are left out.
    """
    exceptions = set(BlocklistException.objects.values_list("domain", flat=True))
    allowed = set(DomainAllow.objects.values_list("domain", flat=True))
    own = {name.partition(":")[0].lower() for name in (settings.LOCAL_DOMAIN, settings.WEB_DOMAIN)}
    above_own, above_exceptions, above_allowed = parents_of(own), parents_of(exceptions), parents_of(allowed)
    found = {}
    for domain in domains:
        if domain in own or domain in above_own:
            found[domain] = _("it is this server or one of its parent domains")
        elif is_related(domain, exceptions, above_exceptions):
            found[domain] = _("an exception protects it")
        elif is_related(domain, allowed, above_allowed):
            found[domain] = _("it is an allowed server")
    return found


def plan_entries(blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> list[Decision]:
    """Return the consequence of each of these entries of a list, in five queries."""
    domains = [entry.domain for entry in entries]
    names = {name for domain in domains for name in names_of(domain)}
    rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=names)}
    others: dict[str, list[Effect]] = defaultdict(list)
    dismissed = set()
    elsewhere = BlocklistEntry.objects.filter(domain__one_of=domains).exclude(blocklist_id=blocklist.pk)
    for other in elsewhere.filter(Q(taken_severity__isnull=False) | Q(state=EntryState.DISMISSED)):
        if (effect := taken_of(other)) is not None:
            others[other.domain].append(effect)
        else:
            dismissed.add(other.domain)
    protection = load_protection(domains)
    return [
        decide(
            entry,
            effect_of(entry, blocklist),
            rule=rules.get(entry.domain),
            above=next((rules[name] for name in names_of(entry.domain)[1:] if name in rules), None),
            others=others[entry.domain],
            protected=protection.get(entry.domain, ""),
            dismissed=entry.domain in dismissed,
        )
        for entry in entries
    ]


@dataclass
class Server:
    """Effects of a change on a server with its subdomains: the numbers of known accounts and posts that would vanish, and the
    follows that would end. `comment` is the reason of the list, `note` what staff should know.
    """

    domain: str
    step: str
    severity: str
    comment: str = ""
    note: str = ""
    accounts: int = 0
    posts: int = 0
    follows: FollowsUnder = field(default_factory=FollowsUnder)


@dataclass
class DryRun:
    """Result of a dry run: the numbers of changes, and their effects in total and by server. `servers` is sorted by lost
    follows, most first.
    """

    new: int = 0
    changed: int = 0
    lifted: int = 0
    kept: int = 0
    accounts: int = 0
    posts: int = 0
    follows_from_here: int = 0
    follows_to_here: int = 0
    servers: list[Server] = field(default_factory=list)


def try_entries(blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> DryRun:
    """Return the result of a dry run of the changes that these entries ask for, in a fixed number of queries."""
    found = DryRun()
    closing = {}
    for entry, decision in zip(entries, plan_entries(blocklist, entries), strict=True):
        found.new += decision.step == EntryStep.BLOCK
        found.changed += decision.step == EntryStep.CHANGE
        found.lifted += decision.step == EntryStep.LIFT
        found.kept += decision.step == EntryStep.NONE
        if decision.step == EntryStep.NONE:
            continue
        severity = decision.effect.severity if decision.effect is not None else ""
        server = Server(entry.domain, decision.step, severity, entry.comment, decision.note)
        found.servers.append(server)
        if severity == DomainSeverity.SUSPEND:
            closing[entry.domain] = server
    _count(closing)
    for server in closing.values():
        found.accounts += server.accounts
        found.posts += server.posts
        found.follows_from_here += server.follows.from_here
        found.follows_to_here += server.follows.to_here
    found.servers.sort(key=lambda server: (-_follows(server), -server.accounts, server.domain))
    return found


def _follows(server: Server) -> int:
    return server.follows.from_here + server.follows.to_here


def _count(servers: dict[str, Server]) -> None:
    """Count the accounts, posts and follows of servers that would be suspended."""
    for domain, follows in load_follows_under(servers).items():
        servers[domain].follows = follows
    above = find_known_under(servers)
    for name, accounts, posts in rows_of(_COUNTS, {"names": list(above), "limit": COUNT_LIMIT}):
        server = servers[above[name]]
        server.accounts, server.posts = server.accounts + accounts, server.posts + posts
