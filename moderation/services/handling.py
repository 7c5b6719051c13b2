"""What staff do with reports: take them on, settle them, open them again, put them right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record, record_each
from moderation.models import InstanceRule, Report, ReportCategory
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid, NotFound


def assign_report(*, by: Staff, report: Report) -> None:
    """Take a report on oneself, from whoever had it. Raises Forbidden."""
    with _handling(by, report, "assign") as current:
        _write(current, assigned_account_id=by.account_id)


def unassign_report(*, by: Staff, report: Report) -> None:
    """Leave a report to whoever takes it. Raises Forbidden."""
    with _handling(by, report, "unassign") as current:
        _write(current, assigned_account_id=None)


def resolve_report(*, by: Staff, report: Report) -> None:
    """Settle a report; once it is, that stays somebody's who did it first. Raises Forbidden."""
    with _handling(by, report, "resolve") as current:
        if not current.is_resolved:
            _write(current, action_taken_at=clock.now(), action_taken_by_id=by.account_id)


def reopen_report(*, by: Staff, report: Report) -> None:
    """Undo `resolve_report`. Raises Forbidden."""
    with _handling(by, report, "reopen") as current:
        _write(current, action_taken_at=None, action_taken_by_id=None)


def settle_reports(*, by: Staff, target: Account, only: Report | None = None) -> None:
    """Settle every open report on an account, or `only` that one, as part of an act on it, whose right was asked."""
    with transaction.atomic():
        rows = Report.objects.select_for_update(of=("self",)).filter(target_account=target, action_taken_at=None)
        if only is not None:
            rows = rows.filter(pk=only.pk)
        ids = list(rows.order_by("id").values_list("id", flat=True))
        now = clock.now()
        Report.objects.filter(id__one_of=ids).update(
            action_taken_at=now, action_taken_by_id=by.account_id, updated_at=now
        )
        record_each(by=by, action="resolve", target_type="Report", targets=[(number, f"#{number}") for number in ids])


def update_report(
    *, by: Staff, report: Report, category: str | None = None, rule_ids: Sequence[int] | None = None
) -> None:
    """Put right what a report is about; None: as it was. Raises Forbidden; Invalid for a category that is none, rules
    that do not exist, a violation without rules, and rules with another category (contract, parameters section 6).
    """
    with _handling(by, report, "update") as current:
        chosen = current.category if category is None else category
        rules = list(current.rule_ids or ()) if rule_ids is None else list(dict.fromkeys(rule_ids))
        if rule_ids is None and chosen != ReportCategory.VIOLATION:
            # What it broke is said with the category that it no longer has.
            rules = []
        errors = _errors(chosen, rules)
        if errors:
            raise Invalid.of(errors)
        _write(current, category=chosen, rule_ids=rules or None)


def _errors(category: str, rule_ids: list[int]) -> list[FieldError]:
    if category not in ReportCategory.values:
        return [FieldError("category", "ERR_INCLUSION", _("is not included in the list"))]
    if category == ReportCategory.VIOLATION:
        known = InstanceRule.objects.filter(id__one_of=rule_ids).count() if rule_ids else 0
        if not rule_ids or known < len(rule_ids):
            return [FieldError("rule_ids", "ERR_INVALID", _("does not reference valid rules"))]
    elif rule_ids:
        return [FieldError("rule_ids", "ERR_PRESENT", _("must be blank"))]
    return []


@contextmanager
def _handling(by: Staff, report: Report, action: str) -> Iterator[Report]:
    """One transaction: the right asked, the row locked and as it is now, and the audit row if something has changed."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        current = Report.objects.select_for_update(of=("self",)).filter(pk=report.pk).first()
        if current is None:
            raise NotFound
        before = _state(current)
        yield current
        after = _state(current)
        if after != before:
            changed = [name for name in after if after[name] != before[name]]
            record(
                by=by,
                action=action,
                target_type="Report",
                target_id=report.pk,
                target_name=f"#{report.pk}",
                before={name: before[name] for name in changed},
                after={name: after[name] for name in changed},
            )


def _state(report: Report) -> dict[str, Any]:
    return {
        "assigned_account": None if report.assigned_account_id is None else str(report.assigned_account_id),
        "resolved": report.is_resolved,
        "category": report.category,
        "rules": [str(number) for number in report.rule_ids or ()],
    }


def _write(report: Report, **values: Any) -> None:
    for name, value in values.items():
        setattr(report, name, value)
    report.updated_at = clock.now()
    Report.objects.filter(pk=report.pk).update(**values, updated_at=report.updated_at)
