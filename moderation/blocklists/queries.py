"""Reads blocklists, their entries and the servers that no list may block; makes dry runs of changes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import AuditEntry
from accounts.queries.servers import FollowsUnder, find_known_under, load_follows_under
from moderation.blocklists import policies
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryState, EntryStep
from moderation.blocklists.policies import FAILURE_LIMIT, Decision, Effect
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.policies.domain_rules import names_of
from social.kernel import clock
from social.kernel.errors import require_found
from social.kernel.statements import rows_of

COUNT_LIMIT: Final = 200_000
"""Maximum number of accounts that are counted with their posts; counting all accounts of a very large server takes minutes."""

LOG_LIMIT: Final = 20
SERVERS_LIMIT: Final = 100
# Posts are summed from the counter of each account, because counting the posts themselves would read all posts.
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
    """Return the entries that are waiting for a decision."""
    return BlocklistEntry.objects.filter(state=EntryState.WAITING)


def list_drafts() -> QuerySet[BlocklistEntry]:
    """Return the entries that would add or change a rule and are waiting for a decision, with their lists."""
    return list_waiting().filter(listed=True, step__in=[EntryStep.BLOCK, EntryStep.CHANGE]).select_related("blocklist")


def list_subscriptions() -> QuerySet[Blocklist]:
    """Return the lists that staff have not removed."""
    return Blocklist.objects.filter(ending=False)


def load_creators(target_type: str, ids: Iterable[int], action: str = "create") -> dict[int, int | None]:
    """Return the ids of the accounts that created these rows, by row id; rows that the operator created are left out."""
    entries = AuditEntry.objects.filter(target_type=target_type, target_id__one_of=ids, action=action)
    return dict(entries.exclude(account_id=None).values_list("target_id", "account_id"))


def list_failing() -> QuerySet[Blocklist]:
    """Return the enabled lists whose fetches have failed for longer than FAILURE_LIMIT."""
    return Blocklist.objects.filter(enabled=True, failing_since__lt=clock.now() - FAILURE_LIMIT).order_by("name")


def count_entries(rows: QuerySet[Blocklist]) -> QuerySet[Blocklist]:
    """Annotate these lists with the numbers of their entries that are `in_force` and that are `waiting` for a decision."""
    return rows.annotate(
        in_force=Count("entries", filter=Q(entries__taken_severity__isnull=False)),
        waiting=Count("entries", filter=Q(entries__state=EntryState.WAITING)),
    )


def load_entries(blocklist: Blocklist) -> dict[str, BlocklistEntry]:
    return {entry.domain: entry for entry in BlocklistEntry.objects.filter(blocklist_id=blocklist.pk)}


def kept_reason(blocklist: Blocklist) -> str:
    """Return the stored reason why changes of an automatic list are waiting; empty once no entry is waiting for this reason."""
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
    """Return, by domain, why no list may block a server; servers that lists may block are left out. Two queries."""
    exceptions = set(BlocklistException.objects.values_list("domain", flat=True))
    allowed = set(DomainAllow.objects.values_list("domain", flat=True))
    own = {name.partition(":")[0].lower() for name in (settings.LOCAL_DOMAIN, settings.WEB_DOMAIN)}
    above_own, above_exceptions, above_allowed = map(policies.parents_of, (own, exceptions, allowed))
    reasons = {}
    for domain in domains:
        if domain in own or domain in above_own:
            reasons[domain] = _("it is this server or one of its parent domains")
        elif policies.is_related(domain, exceptions, above_exceptions):
            reasons[domain] = _("an exception protects it")
        elif policies.is_related(domain, allowed, above_allowed):
            reasons[domain] = _("it is an allowed server")
    return reasons


def plan_entries(blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> list[Decision]:
    """Return the consequence of each of these entries of a list, in five queries."""
    domains = [entry.domain for entry in entries]
    names = {name for domain in domains for name in names_of(domain)}
    rules = {rule.domain: rule for rule in DomainRule.objects.filter(domain__one_of=names)}
    others: dict[str, list[Effect]] = defaultdict(list)
    dismissed = set()
    elsewhere = BlocklistEntry.objects.filter(domain__one_of=domains).exclude(blocklist_id=blocklist.pk)
    for other in elsewhere.filter(Q(taken_severity__isnull=False) | Q(state=EntryState.DISMISSED)):
        if (effect := policies.taken_of(other)) is not None:
            others[other.domain].append(effect)
        else:
            dismissed.add(other.domain)
    protection = load_protection(domains)
    return [
        policies.decide(
            entry,
            policies.effect_of(entry, blocklist),
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
    """Effects of a change on a server and its subdomains: accounts and posts that would vanish, follows that would end."""

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
    """Result of a dry run: the numbers of changes, and their effects in total and by server, sorted by lost follows."""

    new: int
    changed: int
    lifted: int
    kept: int
    accounts: int
    posts: int
    follows_from_here: int
    follows_to_here: int
    servers: list[Server]


def try_entries(blocklist: Blocklist, entries: Sequence[BlocklistEntry]) -> DryRun:
    """Return the result of a dry run of the changes that these entries request, in a fixed number of queries."""
    decisions = plan_entries(blocklist, entries)
    steps = Counter(decision.step for decision in decisions)
    servers = [
        Server(
            entry.domain,
            decision.step,
            decision.effect.severity if decision.effect else "",
            entry.comment,
            decision.note,
        )
        for entry, decision in zip(entries, decisions, strict=True)
        if decision.step != EntryStep.NONE
    ]
    _count({server.domain: server for server in servers if server.severity == DomainSeverity.SUSPEND})
    servers.sort(
        key=lambda server: (-server.follows.from_here - server.follows.to_here, -server.accounts, server.domain)
    )
    return DryRun(
        new=steps[EntryStep.BLOCK],
        changed=steps[EntryStep.CHANGE],
        lifted=steps[EntryStep.LIFT],
        kept=steps[EntryStep.NONE],
        accounts=sum(server.accounts for server in servers),
        posts=sum(server.posts for server in servers),
        follows_from_here=sum(server.follows.from_here for server in servers),
        follows_to_here=sum(server.follows.to_here for server in servers),
        servers=servers,
    )


def _count(servers: dict[str, Server]) -> None:
    """Count the accounts, posts and follows of servers that would be suspended."""
    for domain, follows in load_follows_under(servers).items():
        servers[domain].follows = follows
    above = find_known_under(servers)
    for name, accounts, posts in rows_of(_COUNTS, {"names": list(above), "limit": COUNT_LIMIT}):
        server = servers[above[name]]
        server.accounts, server.posts = server.accounts + accounts, server.posts + posts
