"""Reads what staff have decided about other servers."""

from __future__ import annotations

from django.conf import settings
from django.db.models.functions import Length

from accounts.models import Account
from moderation.models import DomainAllow, DomainRule, DomainSeverity
from moderation.policies.domain_rules import names_of
from social.kernel import links
from social.kernel.errors import NotFound


def find_rule(rule_id: int) -> DomainRule:
    """The rule with this id. Raises NotFound."""
    rule = DomainRule.objects.filter(id=rule_id).first()
    if rule is None:
        raise NotFound
    return rule


def find_allow(allow_id: int) -> DomainAllow:
    """The allowed server with this id. Raises NotFound."""
    allow = DomainAllow.objects.filter(id=allow_id).first()
    if allow is None:
        raise NotFound
    return allow


def rule_for(domain: str) -> DomainRule | None:
    """The rule that counts for a server: of all for it and the domains above it the one for the longest name."""
    return (
        DomainRule.objects.filter(domain__one_of=names_of(domain.lower()))
        .alias(length=Length("domain"))
        .order_by("-length")
        .first()
    )


def is_closed_to(*domains: str) -> bool:
    """Whether nothing is taken from one of these servers and nothing asked of it: suspended, or not allowed where
    federation is limited (contract, federation section 11). One query, and one more where it is limited.
    """
    names = {domain: names_of(domain.lower()) for domain in domains if not links.is_own_domain(domain)}
    if not names:
        return False
    wanted = {name for longest_first in names.values() for name in longest_first}
    if settings.LIMITED_FEDERATION:
        allowed = set(DomainAllow.objects.filter(domain__one_of=wanted).values_list("domain", flat=True))
        if any(allowed.isdisjoint(longest_first) for longest_first in names.values()):
            return True
    severities = dict(DomainRule.objects.filter(domain__one_of=wanted).values_list("domain", "severity"))
    return any(
        next((severities[name] for name in longest_first if name in severities), None) == DomainSeverity.SUSPEND
        for longest_first in names.values()
    )


def load_people_under(domain: str, after: int, limit: int) -> list[tuple[int, str]]:
    """Accounts of a server and its subdomains with an id above `after`, id and domain, in the order of their ids."""
    escaped = domain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = Account.objects.raw(
        "SELECT id, domain FROM accounts_account"
        " WHERE id > %s AND (lower(domain) = %s OR lower(domain) LIKE ANY(%s)) ORDER BY id LIMIT %s",
        # A server at a port of its own has it in its name.
        [after, domain, [f"%.{escaped}", f"{escaped}:%", f"%.{escaped}:%"], limit],
    )
    return [(row.id, row.domain or "") for row in rows]
