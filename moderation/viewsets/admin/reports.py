"""Reports as staff see and handle them, over HTTP."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models.user import Permission
from moderation.models import Report
from moderation.queries.reports import find_report, list_reports, load_rules, people_of
from moderation.serializers.admin import AdminReportSerializer, present_admin_accounts
from moderation.serializers.inputs.admin import ReportChangeInput, ReportsInput
from moderation.services import reports as services
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from statuses.policies.posts import Post
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present_by_id

_READ = access.staff("admin:read:reports", Permission.MANAGE_REPORTS)
_WRITE = access.staff("admin:write:reports", Permission.MANAGE_REPORTS)


def _address(post: Post) -> str:
    return f"@{post.username}" if post.domain is None else f"@{post.username}@{post.domain}"


class AdminReportsViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_READ, "AdminReport", many=True, input=ReportsInput, paging=ByCursor(Limit(100, 200))),
        "retrieve": Endpoint(_READ, "AdminReport"),
        "update": Endpoint(_WRITE, "AdminReport", input=ReportChangeInput),
        "assign": Endpoint(_WRITE, "AdminReport"),
        "unassign": Endpoint(_WRITE, "AdminReport"),
        "resolve": Endpoint(_WRITE, "AdminReport"),
        "reopen": Endpoint(_WRITE, "AdminReport"),
    }
    acts = {
        "assign": ("Assign a report to the caller.", lambda by, report: services.assign_report(by=by, report=report)),
        "unassign": (
            "Remove the assignment of a report.",
            lambda by, report: services.unassign_report(by=by, report=report),
        ),
        "resolve": ("Settle a report.", lambda by, report: services.resolve_report(by=by, report=report)),
        "reopen": ("Reopen a report.", lambda by, report: services.reopen_report(by=by, report=report)),
    }

    def list(self, request: Request) -> HttpResponse:
        """List open reports or, with `resolved`, settled reports."""
        page = self.paginate(list_reports(ReportsInput.read(request)))
        return page.respond(self._entities(page.items))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """A report."""
        return reply(self._entities([find_report(id)])[0])

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the category and the rules of a report."""
        report, change = find_report(id), ReportChangeInput.read(request)
        services.update_report(by=self.by, report=report, category=change.category, rule_ids=change.rule_ids)
        return self.present(report)

    def find(self, row_id: int) -> Report:
        return find_report(row_id)

    def present(self, row: Report) -> HttpResponse:
        """Return the report as it is now."""
        return reply(self._entities([find_report(row.pk)])[0])

    def _entities(self, reports: Sequence[Report]) -> Any:
        """Return the entities with all attached posts, even deleted and private posts; viewing private posts is logged."""
        rows = load_posts(number for report in reports for number in report.status_ids)
        services.note_posts_seen(by=self.by, posts=[(row.id, _address(row), row.visibility) for row in rows])
        context = {
            "accounts": present_admin_accounts(
                (account for report in reports for account in people_of(report)), self.viewer_id
            ),
            "statuses": present_by_id(fill(of_rows(rows, self.viewer_id))) if rows else {},
            "rules": load_rules(reports),
        }
        return AdminReportSerializer(reports, many=True, context=context).data
