"""How staff see reports."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.accounts import account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import InstanceRule, Report, ReportCategory
from moderation.services.evidence import open_evidence
from social.api.staff_columns import ConditionFilter, lines, mark, shortened, shown

CATEGORIES = {
    ReportCategory.SPAM: gettext_lazy("Spam"),
    ReportCategory.LEGAL: gettext_lazy("Legal"),
    ReportCategory.VIOLATION: gettext_lazy("Violation of a rule"),
    ReportCategory.OTHER: gettext_lazy("Other"),
}


class StateFilter(ConditionFilter):
    """Open or resolved."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "open": (gettext_lazy("Open"), Q(action_taken_at=None)),
        "resolved": (gettext_lazy("Resolved"), Q(action_taken_at__isnull=False)),
    }


def state_of(report: Report) -> Any:
    """Whether staff are done with it."""
    return mark(_("Resolved"), "good") if report.is_resolved else mark(_("Open"), "waiting")


def _rules(report: Report) -> list[str]:
    if not report.rule_ids:
        return []
    return list(InstanceRule.objects.filter(id__one_of=report.rule_ids).values_list("text", flat=True))


def _posts(report: Report) -> Any:
    rows = [(post.url, post.words or _("(without words)")) for post in report.__dict__.get("evidence", ())]
    return format_html_join("", '<p dir="auto"><a href="{}">{}</a></p>', rows)


NUMBER = shown("id", gettext_lazy("Report"), lambda report: str(report.pk), order="id")
TARGET = shown("target_account", gettext_lazy("Account"), lambda report: account_link(report.target_account))
REPORTER = shown("account", gettext_lazy("Reported by"), lambda report: account_link(report.account), minor=True)
CATEGORY = shown(
    "category", gettext_lazy("Category"), lambda report: CATEGORIES.get(report.category, report.category), minor=True
)
STATE = shown("state", gettext_lazy("State"), state_of)
SINCE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)
COMMENT = shown("comment", gettext_lazy("Comment"), lambda report: shortened(report.comment, 80))


@admin.register(Report)
class ReportAdmin(PermittedAdmin):
    """Reports; they are worked on with the admin API."""

    permission = Permission.MANAGE_REPORTS
    list_display = (NUMBER, TARGET, COMMENT, CATEGORY, STATE, REPORTER, SINCE)
    list_filter = (StateFilter,)
    list_select_related = ("account", "target_account")
    ordering = ("-id",)
    fieldsets = (
        lines(
            None,
            TARGET,
            REPORTER,
            CATEGORY,
            shown("rules", gettext_lazy("Rules"), _rules),
            shown(
                "comment",
                gettext_lazy("Comment"),
                lambda report: format_html('<div dir="auto">{}</div>', report.comment),
            ),
            shown("posts", gettext_lazy("Posts"), _posts),
        ),
        lines(
            gettext_lazy("How it stands"),
            STATE,
            SINCE,
            shown("forwarded", gettext_lazy("Forwarded")),
            shown(
                "assigned",
                gettext_lazy("Assigned to"),
                lambda report: account_link(report.assigned_account) if report.assigned_account else None,
            ),
            shown("action_taken_at", gettext_lazy("Resolved since")),
            shown(
                "resolved_by",
                gettext_lazy("Resolved by"),
                lambda report: account_link(report.action_taken_by) if report.action_taken_by else None,
            ),
        ),
    )

    def name_of(self, row: Report) -> str:
        """Its number and whom it is about."""
        return f"{row.pk} (@{row.target_account.acct})"

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """With the attached posts: the look at those that are not public is written down."""
        report = context["original"]
        report.evidence = open_evidence(by=acting(request), report=report)
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer
