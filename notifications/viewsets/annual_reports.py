from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from notifications.models import AnnualReport
from notifications.queries import annual_reports
from notifications.serializers import annual_report
from notifications.services.annual_reports import mark_read, request_report
from social.api.access import user
from social.api.async_refresh import AsyncRefresh
from social.api.declarations import EMPTY, Endpoint
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound, require_found
from statuses.ports import remote_threads
from statuses.queries.statuses import find_post

_RETRY_SECONDS: Final = 2


class AnnualReportsViewSet(ApiViewSet):
    """`/api/v1/annual_reports`: yearly reports, and the progress of background work."""

    endpoints = {
        "list": Endpoint(user("read:accounts"), "AnnualReports"),
        "retrieve": Endpoint(user("read:accounts"), "AnnualReports"),
        "state": Endpoint(user("read:accounts"), "AnnualReportState"),
        "mark_read": Endpoint(user("write:accounts"), EMPTY),
        "generate": Endpoint(user("write:accounts"), EMPTY),
        "refresh": Endpoint(user("read"), "AsyncRefresh"),
    }

    def list(self, request: Request) -> HttpResponse:
        """List the reports that are not marked as read."""
        return reply(annual_report.AnnualReportsSerializer(annual_reports.load_unread(self.account_id)).data)

    def retrieve(self, request: Request, year: str) -> HttpResponse:
        """Show the report of a year."""
        return reply(
            annual_report.AnnualReportsSerializer(
                annual_reports.load_report(self.account_id, annual_reports.parse_year(year))
            ).data
        )

    def state(self, request: Request, year: str) -> HttpResponse:
        """Show whether the report of a year exists, or can be requested."""
        state, report = annual_reports.find_state(self.account_id, annual_reports.parse_year(year))
        return _reply(annual_report.AnnualReportStateSerializer(state).data, report)

    def mark_read(self, request: Request, year: str) -> HttpResponse:
        """Mark the report of a year as read."""
        mark_read(account_id=self.account_id, year=annual_reports.parse_year(year))
        return reply({})

    def generate(self, request: Request, year: str) -> HttpResponse:
        """Request the report of a year: 202 while it is being computed, 200 when it is finished or no report is offered."""
        report = request_report(account_id=self.account_id, year=annual_reports.parse_year(year))
        return _reply({}, report, status=200 if report is None else 202)

    def refresh(self, request: Request, id: int) -> HttpResponse:
        """Show how far the server has got with computing a report or with fetching the thread around a post."""
        try:
            progress = _state_of(annual_reports.find_requested(self.account_id, id))
        except NotFound:
            progress = _thread_around(find_post(id, self.account_id).proper.id)
        return reply(annual_report.AsyncRefreshSerializer(progress).data)


def _thread_around(status_id: int) -> AsyncRefresh:
    threads = remote_threads.find()
    return require_found(threads.find(status_id) if threads is not None else None)


def _state_of(report: AnnualReport) -> AsyncRefresh:
    return AsyncRefresh(report.id, running=report.data is None)


def _reply(body: Any, report: AnnualReport | None, *, status: int = 200) -> HttpResponse:
    headers = _state_of(report).headers(_RETRY_SECONDS) if report is not None else {}
    return reply(body, status=status, headers=headers)
