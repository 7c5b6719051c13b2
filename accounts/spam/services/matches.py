"""Records which spam rules matched, and publishes the matches for higher apps."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from django.db import connection

from accounts.events import SpamRuleMet
from accounts.models.user import Permission
from accounts.policies.staff import Staff
from accounts.spam.models import RuleOutcome, SpamRule, SpamRuleMatch
from accounts.spam.policies import RULES_LIMIT
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.locks import keep_rows

MATCHES_RETENTION: Final = timedelta(days=90)


def record_matches(
    *,
    account_id: int,
    rules: Sequence[SpamRule],
    limited_by: Sequence[SpamRule] = (),
    status_id: int | None = None,
    reported: Collection[str] = (RuleOutcome.REPORT,),
) -> None:
    """Record which rules matched an account or its post, in the caller's transaction.

    Publishes SpamRuleMet for each rule in `limited_by` (a strike follows), and for each rule whose outcome is one of `reported`
    (a report follows).
    """
    # The rules come from a cache, and staff may have deleted some of them in the meantime.
    existing = keep_rows(SpamRule, [rule.id for rule in rules]) if rules else set()
    SpamRuleMatch.objects.bulk_create(
        (
            SpamRuleMatch(rule=rule, account_id=account_id, outcome=rule.outcome, status_id=status_id)
            for rule in rules
            if rule.id in existing
        ),
        batch_size=RULES_LIMIT,
    )
    due = {rule.id: False for rule in rules if rule.outcome in reported} | {rule.id: True for rule in limited_by}
    publish(
        *(
            SpamRuleMet(rule_id=rule_id, account_id=account_id, limited=limited, status_id=status_id)
            for rule_id, limited in due.items()
        )
    )


def as_staff(rule: SpamRule) -> Staff:
    """Return the rule as an actor, so that the audit log names the rule as the author of its actions."""
    return Staff(account_id=None, name=f"rule {rule.name}", permissions=_RIGHTS, position=None)


_RIGHTS: Final = int(Permission.MANAGE_USERS | Permission.MANAGE_REPORTS)
_FORGET: Final = """
DELETE FROM accounts_spamrulematch WHERE id IN (
  SELECT id FROM accounts_spamrulematch WHERE created_at < %s ORDER BY created_at LIMIT %s)
"""


def forget_matches(*, batch: int = 5000) -> int:
    """Delete a batch of matches older than MATCHES_RETENTION; return how many. Run by the scheduler."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [clock.now() - MATCHES_RETENTION, batch])
        return int(cursor.rowcount)
