"""Lets staff create, change, enable, disable and delete spam rules."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import differences, record_about
from accounts.services.sanctions import limit_account
from accounts.spam.models import RuleOutcome, SpamRule
from accounts.spam.policies import RULES_LIMIT, SpamRuleDraft, normalised, rule_errors
from accounts.spam.services.matches import as_staff
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid, require_valid
from social.kernel.locks import lock, lock_row

_LISTS: Final = ("words", "link_hosts", "mail_domains", "networks")


def create_rule(*, by: Staff, draft: SpamRuleDraft, enabled: bool = False) -> SpamRule:
    """Create a rule. Raises Forbidden without MANAGE_BLOCKS; Invalid with `details`."""
    require(by, Permission.MANAGE_BLOCKS)
    values = _checked_columns(draft)
    with transaction.atomic():
        lock("spam_rules")
        if SpamRule.objects.count() >= RULES_LIMIT:
            raise Invalid.sentence(_("There are %(count)d rules already: remove one first.") % {"count": RULES_LIMIT})
        rule = SpamRule(**values, enabled=enabled)
        _save(rule)
        record_about(by, "create", rule, after=_audited_values(rule))
    return rule


def change_rule(*, by: Staff, rule: SpamRule, draft: SpamRuleDraft) -> None:
    """Replace a rule's values; the rule stays enabled or disabled. Raises Forbidden, Invalid, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    values = _checked_columns(draft)
    with transaction.atomic():
        current = lock_row(rule)
        before = _audited_values(current)
        for name, value in values.items():
            setattr(current, name, value)
        current.updated_at = clock.now()
        _save(current)
        after = _audited_values(current)
        if after != before:
            record_about(by, "update", current, **differences(before, after))


def switch_rule(*, by: Staff, rule: SpamRule, enabled: bool) -> None:
    """Enable or disable a rule; other processes notice it within RECENT_SECONDS. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(rule)
        if current.enabled != enabled:
            SpamRule.objects.filter(id=current.id).update(enabled=enabled, updated_at=clock.now())
            record_about(by, "enable" if enabled else "disable", current)


def delete_rule(*, by: Staff, rule: SpamRule) -> None:
    """Delete a rule with its matches; held posts and sign-ups stay held until staff decide. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(rule)
        record_about(by, "destroy", current, before=_audited_values(current))
        current.delete()


def limit_by_rules(account: Account, rules: Sequence[SpamRule]) -> list[SpamRule]:
    """Limit an account if a matched rule has the outcome LIMIT. Return a list of the rule that limited it, or an empty list."""
    if account.limited:
        return []
    limiting = [rule for rule in rules if rule.outcome == RuleOutcome.LIMIT][:1]
    for rule in limiting:
        limit_account(by=as_staff(rule), account=account)
        account.limited_at = clock.now()
    return limiting


def _checked_columns(draft: SpamRuleDraft) -> dict[str, Any]:
    require_valid(rule_errors(draft), details=True)
    return normalised(draft)


def _save(rule: SpamRule) -> None:
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError:
        raise Invalid.of([FieldError.taken("name")], details=True) from None


def _audited_values(rule: SpamRule) -> dict[str, Any]:
    """Return the values of a rule for the audit log, with at most 50 entries of each list."""
    names = ("subject", "outcome", "minimum_mentions", "maximum_age_hours", "first_contact", "origin")
    return {name: getattr(rule, name) for name in names} | {name: getattr(rule, name)[:50] for name in _LISTS}
