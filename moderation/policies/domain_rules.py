"""Choice among rules for a server: which counts, and which of two is stricter.

Source: contract, behaviours section 18, parameters section 6.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from accounts.policies.sign_up import domain_and_parents
from moderation.models import DomainRule, DomainSeverity
from social.kernel import links
from social.kernel.text.names import normalise_domain

_STRICTNESS: Final = {DomainSeverity.NOOP: 0, DomainSeverity.SILENCE: 1, DomainSeverity.SUSPEND: 2}


@dataclass(frozen=True, slots=True)
class DomainRuleDraft:
    """Values of a rule; None leaves a value as it is, or at its default."""

    severity: str | None = None
    reject_media: bool | None = None
    reject_reports: bool | None = None
    obfuscate: bool | None = None
    private_comment: str | None = None
    public_comment: str | None = None


def domain_elsewhere(text: str) -> str | None:
    """The name of another server as it is stored, in any spelling; None for what is none, has a port, or is this server's."""
    name = normalise_domain(text)
    return None if name is None or ":" in name or links.is_own_domain(name) else name


def names_of(domain: str) -> list[str]:
    """The names that a rule for a server may stand under: its own and those above it, without port, longest first."""
    return domain_and_parents(domain.partition(":")[0])


def is_stricter(rule: DomainRule, severity: str, *, reject_media: bool = False, reject_reports: bool = False) -> bool:
    """Tell whether a rule does more than one with these would."""
    mine, theirs = _STRICTNESS[DomainSeverity(rule.severity)], _STRICTNESS[DomainSeverity(severity)]
    if mine != theirs:
        return mine > theirs
    if rule.severity == DomainSeverity.SUSPEND:
        return False
    return (rule.reject_media and not reject_media) or (rule.reject_reports and not reject_reports)


def digest_of(domain: str) -> str:
    """SHA-256 of a domain, by which another server can compare without being given the name."""
    return hashlib.sha256(domain.encode()).hexdigest()
