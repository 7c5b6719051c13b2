"""Helper that creates spam rules."""

from typing import Any

from accounts.policies.staff import OPERATOR
from accounts.spam.models import RuleOutcome, RuleSubject, SpamRule
from accounts.spam.policies import SpamRuleDraft
from accounts.spam.services.rules import create_rule


def make_rule(
    outcome: str = RuleOutcome.HOLD, subject: str = RuleSubject.POSTS, *, enabled: bool = True, **conditions: Any
) -> SpamRule:
    draft = SpamRuleDraft(f"{outcome} {sorted(conditions)}", subject, outcome, **conditions)
    return create_rule(by=OPERATOR, draft=draft, enabled=enabled)
