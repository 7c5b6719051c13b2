"""Creates the yearly reports that users request."""

from collections.abc import Sequence

from django.db import transaction

from moderation.queries.instance import offered_report_year
from notifications.events import AnnualReportRequested
from notifications.models import AnnualReport, NotificationType
from notifications.policies.annual_reports import SCHEMA_VERSION
from notifications.queries.annual_reports import compute_report, has_posted
from notifications.services.notifying import Note, notify
from social.kernel import clock
from social.kernel.errors import NotFound
from social.kernel.events import publish


def request_report(*, account_id: int, year: int | None) -> AnnualReport | None:
    """Request the report of a year. Return the report while it is being computed; return None if the report is finished or not
    offered. Publishes AnnualReportRequested for a new request.
    """
    if year is None or year != offered_report_year() or not has_posted(account_id, year):
        return None
    with transaction.atomic():
        report, is_new = AnnualReport.objects.get_or_create(
            account_id=account_id, year=year, defaults={"schema_version": SCHEMA_VERSION}
        )
        if is_new:
            publish(AnnualReportRequested(report_id=report.id))
    return report if report.data is None else None


def write_reports(events: Sequence[AnnualReportRequested]) -> None:
    """Compute the requested reports, and notify their owners (behaviours section 13, `annual_report`)."""
    for event in events:
        for report in AnnualReport.objects.select_for_update().filter(id=event.report_id, data__isnull=True):
            report.data = compute_report(report.account_id, report.year)
            report.schema_version = SCHEMA_VERSION
            report.save(update_fields=["data", "schema_version"])
            owner_id, cause = report.account_id, f"annual_report:{report.id}"
            notify([Note(owner_id, owner_id, NotificationType.ANNUAL_REPORT, cause, annual_report_id=report.id)])


def mark_read(*, account_id: int, year: int | None) -> None:
    """Mark the report of a year as read, so that lists of reports leave it out. Raises NotFound."""
    reports = AnnualReport.objects.filter(account_id=account_id, year=year or 0, data__isnull=False)
    if not reports.exists():
        raise NotFound
    reports.filter(read_at=None).update(read_at=clock.now())
