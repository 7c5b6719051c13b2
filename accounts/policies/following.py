"""Who may follow whom, and whether it takes asking (contract, behaviours section 14)."""

from __future__ import annotations

from accounts.models import Account
from accounts.policies.relations import Relations

FOLLOW_LIMIT = 7500
FOLLOW_RATIO = 1.1


def may_follow(account: Account, target: Account, relations: Relations) -> bool:
    """Whether a follow is allowed at all: no block either way, no blocked domain, and the target has not moved."""
    return (
        not relations.blocked_either_way(target.id)
        and target.id not in relations.domain_blocking
        and target.moved_to_id is None
        and account.moved_to_id is None
    )


def needs_request(account: Account, target: Account) -> bool:
    """Whether the target must agree first: it is locked, lives elsewhere, or the follower is limited."""
    return target.locked or not target.local or account.limited


def follow_limit(followers_count: int) -> int:
    """How many accounts somebody with so many followers may follow."""
    return max(FOLLOW_LIMIT, int(followers_count * FOLLOW_RATIO))
