"""Spam rules."""

from __future__ import annotations

from typing import Any

from accounts.models import RuleOutcome, RuleSubject, SpamRule
from accounts.policies.spam_rules import SpamRuleDraft
from accounts.policies.staff import OPERATOR
from accounts.services.spam_rules import create_rule


def make_rule(
    outcome: str = RuleOutcome.HOLD, subject: str = RuleSubject.POSTS, *, enabled: bool = True, **conditions: Any
) -> SpamRule:
    """A rule with these conditions."""
    draft = SpamRuleDraft(f"{outcome} {sorted(conditions)}", subject, outcome, **conditions)
    return create_rule(by=OPERATOR, draft=draft, enabled=enabled)
