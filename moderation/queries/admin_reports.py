"""Reads reports as staff see them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import Account
from moderation.models import InstanceRule, Report
from social.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """What reports are looked for by; None: whatever. Both states or none of them: as the contract says."""

    resolved: bool = False
    unresolved: bool = False
    account_id: int | None = None
    target_account_id: int | None = None


def list_reports(wanted: ReportFilter) -> QuerySet[Report]:
    """The reports that fit, in no order: open ones, with `resolved` settled ones, with both all."""
    rows = Report.objects.all()
    if not (wanted.resolved and wanted.unresolved):
        rows = rows.filter(action_taken_at__isnull=not wanted.resolved)
    if wanted.account_id is not None:
        rows = rows.filter(account_id=wanted.account_id)
    if wanted.target_account_id is not None:
        rows = rows.filter(target_account_id=wanted.target_account_id)
    return rows


def find_report(report_id: int) -> Report:
    """The report with this id. Raises NotFound."""
    report = Report.objects.filter(id=report_id).first()
    if report is None:
        raise NotFound
    return report


def find_report_about(account: Account, report_id: int) -> Report:
    """The report with this id, which is about the account. Raises NotFound."""
    report = find_report(report_id)
    if report.target_account_id != account.pk:
        raise NotFound
    return report


def load_rules(reports: Collection[Report]) -> dict[int, InstanceRule]:
    """The rules that these reports name, withdrawn ones too, by id, in one query."""
    wanted = {number for report in reports for number in report.rule_ids or ()}
    return {rule.pk: rule for rule in InstanceRule.objects.filter(id__one_of=wanted)} if wanted else {}


def people_of(report: Report) -> list[int]:
    """The accounts that a report names: who made it, about whom, who handles it and who has settled it."""
    found = (
        report.account_id,
        report.target_account_id,
        report.assigned_account_id,
        report.action_taken_by_id,
    )
    return [number for number in found if number is not None]
