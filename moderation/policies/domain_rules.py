"""Comparison of domain rules: which rule applies, and which rule is stricter. Source: contract, behaviours section 18,
parameters section 6.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from accounts.policies.domains import domain_and_parents
from moderation.models import DomainSeverity
from social.kernel import links
from social.kernel.text.names import normalise_domain

_SECOND_LEVEL: Final = re.compile(
    "ac|asso|biz|co|com|edu|firm|gen|go|gob|gouv|gov|govt|gv|id|ind|info|lg|ltd|me|mil|name|ne|net|nhs|nom|or|org|plc|police"
    "|press|res|sch|web"
)
"""Second-level names below which national registries register domains, such as `co` in `co.uk`."""

STRICTNESS: Final[Mapping[str, int]] = {DomainSeverity.NOOP: 0, DomainSeverity.SILENCE: 1, DomainSeverity.SUSPEND: 2}


@dataclass(frozen=True, slots=True)
class DomainRuleDraft:
    """Values of a rule. None leaves a stored value unchanged; in a new rule it means the default."""

    severity: str | None = None
    reject_media: bool | None = None
    reject_reports: bool | None = None
    obfuscate: bool | None = None
    private_comment: str | None = None
    public_comment: str | None = None


def domain_elsewhere(text: str) -> str | None:
    """Return another server's name in stored form; None for a text that is invalid, has a port, or is this server's name."""
    name = normalise_domain(text)
    return None if name is None or ":" in name or links.is_own_domain(name) else name


def names_of(domain: str) -> list[str]:
    """Return the names of a server and its parent domains, without a port, longest first; a rule for any of them may apply."""
    return domain_and_parents(domain.partition(":")[0])


def is_registry(domain: str) -> bool:
    """Tell whether anybody can register a domain below this domain: a top-level domain, or a second-level domain such as co.uk.
    A rule for such a domain may concern a whole country. Mastodon accepts such rules as well (mastodon#12805).
    """
    name, _dot, above = domain.rpartition(".")
    return not name or (len(above) == 2 and _SECOND_LEVEL.fullmatch(name) is not None)


def all_below() -> str:
    """Return the warning about a rule for a domain below which anybody can register a domain (`is_registry`)."""
    return _("it would concern all servers whose names end like this")


def is_stricter(rule: Any, other: Any) -> bool:
    """Tell whether a rule, or the effect of a list, is stricter than another. Severities count more than rejections."""
    if rule.severity != other.severity:
        return STRICTNESS[rule.severity] > STRICTNESS[other.severity]
    if rule.severity == DomainSeverity.SUSPEND:
        return False
    return any(getattr(rule, name) and not getattr(other, name) for name in ("reject_media", "reject_reports"))


def digest_of(domain: str) -> str:
    """Return the SHA-256 of a domain. A server that knows the domain recognises it by its digest; other servers do not."""
    return hashlib.sha256(domain.encode()).hexdigest()
