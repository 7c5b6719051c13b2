"""Strikes, which record actions of staff against an account and are shown to its owner, and appeals against them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.identity.services.staff import enable
from accounts.models import Account
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services import sanctions
from accounts.services.audit import record
from accounts.spam.models import SpamRule
from moderation.events import AppealDecided, AppealFiled, StrikeIssued
from moderation.models import Appeal, InstanceRule, Report, ReportCategory, Strike, StrikeAction
from moderation.models.report import STRIKE_TEXT_LIMIT
from moderation.policies.reports import appeal_errors, may_be_appealed
from moderation.policies.statements import state
from social.kernel import clock
from social.kernel.errors import Conflict, FieldError, Forbidden, Invalid, require_valid
from social.kernel.events import publish
from statuses.services.moderating import unmark_statuses_sensitive


def issue_strike(
    *,
    by: Staff,
    target: Account,
    action: str,
    text: str = "",
    report: Report | None = None,
    status_ids: Sequence[int] | None = None,
    house_rule_ids: Sequence[int] | None = None,
    spam_rule: SpamRule | None = None,
    notify: bool = True,
) -> Strike:
    """Store a strike with its statement of reasons, in the transaction of the action; publishes StrikeIssued. `house_rule_ids`
    are the broken rules of the server, and `status_ids` are the posts concerned; None means the rules or posts of `report`.
    `spam_rule` is the rule that acted automatically. The caller has checked the permission of `by` and writes the audit row.
    Without `notify`, and for a remote account, the person is not notified (contract, behaviours section 18). Raises Invalid for
    a text that is too long.
    """
    if len(text) > STRIKE_TEXT_LIMIT:
        raise Invalid.of([FieldError.too_long("text", STRIKE_TEXT_LIMIT)])
    if status_ids is None and report is not None:
        status_ids = report.status_ids or None
    if house_rule_ids is None:
        house_rule_ids = (report.rule_ids if report is not None else None) or ()
    rules = InstanceRule.objects.filter(id__one_of=list(house_rule_ids)).order_by("position", "id")
    with transaction.atomic():
        now = clock.now()
        statement = state(
            action=action,
            decided_at=now,
            by_rule=spam_rule is not None,
            reported=report is not None,
            category=ReportCategory.SPAM if spam_rule is not None else report.category if report is not None else "",
            house_rules=list(rules.values_list("text", flat=True)) if house_rule_ids else [],
        )
        strike = Strike(
            created_at=now,
            spam_rule=spam_rule,
            statement=statement,
            account_id=by.account_id,
            target_account=target,
            action=action,
            text=text,
            report=report,
            status_ids=None if status_ids is None else list(status_ids),
        )
        strike.save(force_insert=True)
        publish(StrikeIssued(strike_id=strike.id, account_id=target.id, notify=notify and target.local))
    return strike


def _unsuspend(by: Staff, strike: Strike) -> None:
    account = strike.target_account
    # The suspension may have been undone already, or may have been made by another server.
    if account.suspended and account.suspension_origin == SuspensionOrigin.LOCAL:
        sanctions.unsuspend_account(by=by, account=account)


_UNDO: Final[dict[str, Callable[[Staff, Strike], object]]] = {
    StrikeAction.DISABLE: lambda by, strike: enable(by=by, user=strike.target_account.user),
    StrikeAction.MARK_STATUSES_AS_SENSITIVE: lambda by, strike: unmark_statuses_sensitive(
        by=by, status_ids=strike.status_ids or ()
    ),
    StrikeAction.SENSITIVE: lambda by, strike: sanctions.unsensitize_account(by=by, account=strike.target_account),
    StrikeAction.SILENCE: lambda by, strike: sanctions.unlimit_account(by=by, account=strike.target_account),
    StrikeAction.SUSPEND: _unsuspend,
}
"""The function that undoes each action. A warning cannot be undone, and deleted posts cannot be restored."""


def take_back(by: Staff, strike: Strike) -> None:
    """Undo the action of a strike. `by` may decide appeals, and need not have the permissions to sanction accounts."""
    if undo := _UNDO.get(strike.action):
        rights = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS
        undo(replace(by, permissions=by.permissions | rights), strike)


def file_appeal(*, strike: Strike, text: str) -> Appeal:
    """Appeal against a strike.

    Only one appeal is possible, within APPEAL_PERIOD. Publishes AppealFiled. Raises Forbidden when it is too late, the strike
    was undone, or there is an appeal already; Invalid with `details` for an invalid text.
    """
    require_valid(appeal_errors(text), details=True)
    with transaction.atomic():
        locked = Strike.objects.select_for_update(no_key=True).get(id=strike.id)
        existing = Appeal.objects.filter(strike=locked).first()
        if locked.overruled_at is not None and existing is None:
            raise Forbidden(_("This has been undone already."))
        if not may_be_appealed(locked, existing, now=clock.now()):
            raise Forbidden(_("It is too late to appeal against this."))
        appeal = Appeal(strike=locked, account_id=locked.target_account_id, text=text.strip())
        appeal.save(force_insert=True)
        publish(AppealFiled(appeal_id=appeal.id, account_id=appeal.account_id))
    return appeal


def accept_appeal(*, by: Staff, appeal: Appeal) -> None:
    """Undo the action if it is still in force, and mark the strike as overruled. Publishes AppealDecided. Raises Forbidden
    without MANAGE_APPEALS or a rank above the person's, Conflict for an appeal that is already decided.
    """
    with transaction.atomic():
        locked = _decide(by, appeal)
        now = clock.now()
        Appeal.objects.filter(id=locked.id).update(approved_at=now, decided_by_id=by.account_id)
        Strike.objects.filter(id=locked.strike_id).update(overruled_at=now)
        take_back(by, locked.strike)
        _record(by, "accept", locked)


def reject_appeal(*, by: Staff, appeal: Appeal) -> None:
    """Reject an appeal: the action stays in force. Publishes AppealDecided. Raises the same errors as `accept_appeal`."""
    with transaction.atomic():
        locked = _decide(by, appeal)
        Appeal.objects.filter(id=locked.id).update(rejected_at=clock.now(), decided_by_id=by.account_id)
        _record(by, "reject", locked)


def _decide(by: Staff, appeal: Appeal) -> Appeal:
    related = Appeal.objects.select_related("strike__target_account__user", "account__user__role")
    locked = related.select_for_update(of=("self",)).get(id=appeal.id)
    require(by, Permission.MANAGE_APPEALS, over=locked.account.user.role)
    if locked.state != "pending":
        raise Conflict(_("This appeal has been decided already."))
    return locked


def _record(by: Staff, action: str, appeal: Appeal) -> None:
    record(
        by=by,
        action=action,
        target_type="Appeal",
        target_id=appeal.id,
        target_name=f"@{appeal.account.acct}",
        strike=appeal.strike_id,
        undone=appeal.strike.action if action == "accept" else None,
    )
    publish(AppealDecided(appeal_id=appeal.id, account_id=appeal.account_id))
