"""How staff see reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import account_link
from accounts.admin.permitted import PermittedAdmin
from accounts.admin.users import acting
from accounts.models.user import Permission
from moderation.models import InstanceRule, Report, ReportCategory
from moderation.services import acting_on_posts
from moderation.services.evidence import open_evidence
from social.api.staff_columns import ConditionFilter, lines, mark, shortened, shown
from statuses.admin.statuses import earlier_lines

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
    rows = [
        (found.post.url, found.post.words or _("(without words)"), earlier_lines(found.earlier) or "")
        for found in report.__dict__.get("evidence", ())
    ]
    return format_html_join("", '<p dir="auto"><a href="{}">{}</a></p>{}', rows)


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
    """Reports. Posts are acted on here, everything else with the admin API."""

    permission = Permission.MANAGE_REPORTS
    list_display = (NUMBER, TARGET, COMMENT, CATEGORY, STATE, REPORTER, SINCE)
    list_filter = (StateFilter,)
    list_select_related = ("account", "target_account")
    ordering = ("-id",)
    actions = ("delete_posts", "mark_sensitive")
    change_form_template = "admin/report.html"
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

    @admin.action(description=gettext_lazy("Delete the reported posts"), permissions=["manage"])
    def delete_posts(self, request: HttpRequest, queryset: QuerySet[Report]) -> TemplateResponse | None:
        """Delete them, with a strike."""
        return self._act(
            request,
            queryset,
            acting_on_posts.delete_posts,
            verb="delete_statuses",
            question=gettext_lazy("Delete the posts of these reports? This cannot be undone."),
        )

    @admin.action(description=gettext_lazy("Mark the reported posts as sensitive"), permissions=["manage"])
    def mark_sensitive(self, request: HttpRequest, queryset: QuerySet[Report]) -> TemplateResponse | None:
        """Mark them, with a strike."""
        return self._act(
            request,
            queryset,
            acting_on_posts.mark_posts_sensitive,
            verb="mark_statuses_as_sensitive",
            question=gettext_lazy("Mark the posts of these reports as sensitive?"),
        )

    def _act(
        self, request: HttpRequest, queryset: QuerySet[Report], act: Callable[..., Any], *, verb: str, question: Any
    ) -> TemplateResponse | None:
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda report: act(
                by=by,
                account=report.target_account,
                status_ids=report.status_ids,
                text=request.POST.get("text", "").strip(),
                report=report,
            ),
            verb=verb,
            done=lambda count: ngettext("%(count)d report was settled.", "%(count)d reports were settled.", count),
            question=question,
            asks_for=gettext_lazy("What you write to the person (may be empty)"),
        )

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """With the attached posts: the look at those that are not public is written down."""
        report = context["original"]
        report.evidence = open_evidence(by=acting(request), report=report)
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer
