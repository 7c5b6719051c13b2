"""Reads domain rules and allowed servers, and blocks of e-mail domains, e-mail addresses and networks."""

from collections.abc import Iterable
from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db.models import QuerySet, TextField
from django.db.models.functions import Length

from accounts.identity.policies.sign_up import email_digest
from accounts.models import Account, CanonicalEmailBlock
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.policies.domain_rules import names_of
from social.kernel import links
from social.kernel.identity import is_federation_limited
from social.kernel.plans import Plan, Slot

_NAMES: Final = Slot("names", ArrayField(TextField()))
_RULE: Final = Plan(
    lambda: DomainRule.objects.filter(domain__one_of=_NAMES).alias(length=Length("domain")).order_by("-length")
)
_SEVERITIES: Final = Plan(lambda: DomainRule.objects.filter(domain__one_of=_NAMES).values_list("domain", "severity"))


def rule_for(domain: str) -> DomainRule | None:
    """Return the rule that applies to a server: the most specific rule for its name or one of its parent domains."""
    return _RULE.first(names=names_of(domain.lower()))


def load_rules(domains: Iterable[str]) -> dict[str, DomainRule]:
    """Return, by domain, the rules that apply to these servers (see `rule_for`), in one query."""
    names = {domain: names_of(domain.lower()) for domain in domains}
    rules_by_name = {
        rule.domain: rule
        for rule in _RULE.run(names=[name for longest_first in names.values() for name in longest_first])
    }
    rules = {
        domain: next((rules_by_name[name] for name in names[domain] if name in rules_by_name), None) for domain in names
    }
    return {domain: rule for domain, rule in rules.items() if rule is not None}


def is_closed_to(*domains: str) -> bool:
    """Tell whether federation with at least one of these servers is closed in both directions (`closed_among`)."""
    return bool(closed_among(domains))


def closed_among(domains: Iterable[str]) -> set[str]:
    """Return the servers among these that are suspended, or not allowed if federation is limited. One or two queries."""
    names = {domain: names_of(domain.lower()) for domain in domains if not links.is_own_domain(domain)}
    if not names:
        return set()
    all_names = {name for longest_first in names.values() for name in longest_first}
    severities = dict(_SEVERITIES.run(names=list(all_names)))
    closed = {
        domain
        for domain, longest_first in names.items()
        if next((severities[name] for name in longest_first if name in severities), None) == DomainSeverity.SUSPEND
    }
    if is_federation_limited():
        allowed = set(DomainAllow.objects.filter(domain__one_of=all_names).values_list("domain", flat=True))
        closed |= {domain for domain, longest_first in names.items() if allowed.isdisjoint(longest_first)}
    return closed


def load_people_under(domain: str, after: int, limit: int) -> list[tuple[int, str]]:
    """Return the ids and domains of the accounts of a server and its subdomains with an id above `after`, sorted by id."""
    escaped = domain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = Account.objects.raw(
        "SELECT id, domain FROM accounts_account"
        " WHERE id > %s AND (lower(domain) = %s OR lower(domain) LIKE ANY(%s)) ORDER BY id LIMIT %s",
        # The domain of a server at a non-standard port contains the port.
        [after, domain, [f"%.{escaped}", f"{escaped}:%", f"%.{escaped}:%"], limit],
    )
    return [(row.id, row.domain or "") for row in rows]


def list_blocks_of(email: str) -> QuerySet[CanonicalEmailBlock]:
    """Return the block of an e-mail address, in any spelling: at most one row."""
    return CanonicalEmailBlock.objects.filter(digest=email_digest(email))
