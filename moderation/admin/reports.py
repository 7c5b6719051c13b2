"""Admin pages of reports, strikes, and appeals against strikes."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_column, matching
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import Account, AuditEntry
from accounts.models.user import Permission
from accounts.policies.staff import Staff, outranks
from accounts.queries.users import find_role
from moderation.acts import WordsForm
from moderation.admin.account_tabs import REPORT_STATES, strike_state
from moderation.admin.audit_sentences import history_of
from moderation.admin.decision_form import CATEGORIES
from moderation.admin.inbox import InboxAdmin
from moderation.models import Appeal, InstanceRule, Report, Strike, StrikeAction
from moderation.services.acting import act_on_posts
from moderation.services.reports import open_evidence
from moderation.services.strikes import accept_appeal, reject_appeal
from social.api import staff_columns as columns
from social.api.staff_acts import Act, Words
from social.api.staff_columns import CREATION, lines, row_link, shortened, shown
from social.api.staff_filters import AutocompleteSelectFilter, RangeDateTimeFilter
from statuses.admin import earlier_lines


def _report(strike: Strike) -> Any:
    return None if strike.report_id is None else row_link(Report, strike.report_id, gettext("Report"))


STRIKE_ACTION = shown("action", _("Action"), lambda strike: strike.get_action_display())
STRIKE_TARGET = account_column("target_account", _("Account"))
STRIKE_AUTHOR = account_column("account", _("By"))
STRIKE_TEXT = shown("text", _("Text"), lambda strike: shortened(strike.text, 80), minor=True)
STRIKE_STATE = shown("state", _("State"), strike_state)


StrikeActionFilter = columns.condition_filter(
    "action", _("action"), **{value: (words, Q(action=value)) for value, words in StrikeAction.choices}
)
StrikeStateFilter = columns.condition_filter(
    "state",
    _("state"),
    appealed=(_("Appeal pending"), Q(appeal__isnull=False, appeal__approved_at=None, appeal__rejected_at=None)),
    overruled=(_("Undone"), Q(overruled_at__isnull=False)),
)


class _WordsAboutPeople(PermittedAdmin):
    """Base of pages that list texts about the account in `person_column` and can be searched by account or by words."""

    search_fields = ("text",)
    search_help_text = _("@anna, anna@there.example, or words from the text")

    def find_rows(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Find the rows about the account with this address or name, or the rows that contain these words."""
        if "@" in term:
            return matching(rows, term, f"{self.person_column.removesuffix('_id')}__")
        named = Account.objects.alias(name=Lower("username")).filter(name=term.lower()).values_list("id", flat=True)
        return rows.filter(
            Q(text__icontains=term) | Q((f"{self.person_column}__one_of", list(named[: columns.COUNT_LIMIT])))
        )


@admin.register(Strike)
class StrikeAdmin(_WordsAboutPeople):
    permission = Permission.MANAGE_REPORTS
    person_column = "target_account_id"
    list_display = (STRIKE_ACTION, STRIKE_TARGET, STRIKE_AUTHOR, STRIKE_TEXT, STRIKE_STATE, CREATION)
    list_filter = (
        StrikeActionFilter,
        StrikeStateFilter,
        ("account", AutocompleteSelectFilter),
        ("created_at", RangeDateTimeFilter),
    )
    list_select_related = ("account", "target_account", "appeal")
    fieldsets = (
        lines(
            None,
            STRIKE_ACTION,
            STRIKE_TARGET,
            STRIKE_AUTHOR,
            shown("text", _("Text")),
            shown("report", _("Report"), _report),
            CREATION,
            shown("overruled_at", _("Undone at")),
        ),
    )


_APPEAL_STATES = columns.States(
    waiting=(_("Waiting"), "waiting", Q(approved_at=None, rejected_at=None)),
    accepted=(_("Approved"), "good", Q(approved_at__isnull=False)),
    rejected=(_("Rejected"), "bad", Q(rejected_at__isnull=False)),
)


APPEAL_ACCOUNT = account_column("account", _("Account"))
APPEALED_STRIKE = shown(
    "strike",
    _("Against"),
    lambda appeal: row_link(Strike, appeal.strike_id, appeal.strike.get_action_display()),
)
APPEAL_TEXT = shown("text", _("Text"), lambda appeal: shortened(appeal.text, 120))
APPEAL_STATE = _APPEAL_STATES.column()


def _buttons(appeal: Appeal) -> Any:
    """Return links to the confirmation pages of the two decisions; None for an appeal that is decided."""
    if appeal.state != "pending":
        return None
    page = reverse("admin:moderation_appeal_changelist")
    acts = (("accept", gettext("Accept")), ("reject", gettext("Reject")))
    return format_html_join(
        " ", '<a class="staff-button" href="{}{}/{}/">{}</a>', ((page, appeal.pk, act, words) for act, words in acts)
    )


APPEAL_BUTTONS = shown("buttons", _("Decide"), _buttons)


@admin.register(Appeal)
class AppealAdmin(_WordsAboutPeople):
    """Appeals; the moderator who decides must outrank the person who appeals."""

    permission = Permission.MANAGE_APPEALS
    person_column = "account_id"
    waits = Q(approved_at=None, rejected_at=None)
    list_display = (APPEAL_ACCOUNT, APPEALED_STRIKE, APPEAL_TEXT, APPEAL_STATE, CREATION, APPEAL_BUTTONS)
    # The text links to the appeal's own page, because the first columns link to other pages.
    list_display_links = (APPEAL_TEXT,)
    list_filter = (_APPEAL_STATES.filter(),)
    list_select_related = ("account", "strike")
    acts = (
        Act(
            "accept",
            _("Approve: undo what was done"),
            lambda by, appeal: accept_appeal(by=by, appeal=appeal),
            icon="check",
            one=Words(_("Approve this appeal? What was done to the account is undone."), _("The appeal is approved.")),
            fits=lambda appeal: appeal.state == "pending",
            many=Words(
                _("Approve these appeals? What was done to the accounts is undone."),
                ngettext_lazy("%(count)d appeal was approved.", "%(count)d appeals were approved.", "count"),
            ),
            audit=_("%(by)s approved the appeal of %(target)s"),
        ),
        Act(
            "reject",
            _("Reject: keep what was done"),
            lambda by, appeal: reject_appeal(by=by, appeal=appeal),
            icon="close",
            one=Words(_("Reject this appeal?"), _("The appeal is rejected.")),
            fits=lambda appeal: appeal.state == "pending",
            many=Words(
                _("Reject these appeals?"),
                ngettext_lazy("%(count)d appeal was rejected.", "%(count)d appeals were rejected.", "count"),
            ),
            audit=_("%(by)s rejected the appeal of %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None,
            APPEAL_ACCOUNT,
            APPEALED_STRIKE,
            shown("reason", _("Text of the strike"), lambda appeal: appeal.strike.text),
            shown("text", _("Text")),
            APPEAL_STATE,
            CREATION,
            account_column("decided_by", _("Decided by")),
        ),
    )

    def name_of(self, row: Appeal) -> str:
        return f"@{row.account.acct}"

    def question_line(self, row: Appeal) -> str:
        strike = ": ".join(part for part in (str(row.strike.get_action_display()), row.strike.text) if part)
        return f"{strike} – {row.text}"


def _rules(report: Report) -> list[str]:
    return list(InstanceRule.objects.filter(id__one_of=report.rule_ids or ()).values_list("text", flat=True))


def _posts(report: Report) -> Any:
    rows = [
        (post.url, post.words or gettext("(no text)"), earlier_lines(post.earlier) or "")
        for post in report.__dict__.get("evidence", ())
    ]
    return format_html_join("", '<p dir="auto"><a href="{}">{}</a></p>{}', rows)


REPORT_NUMBER = shown("id", _("Report"), lambda report: str(report.pk), order="id")
REPORT_TARGET = account_column("target_account", _("Account"))
REPORTER = account_column("account", _("Reported by"), minor=True)
REPORT_CATEGORY = shown(
    "category", _("Category"), lambda report: CATEGORIES.get(report.category, report.category), minor=True
)
REPORT_STATE = REPORT_STATES.column()
REPORT_COMMENT = shown("comment", _("Comment"), lambda report: shortened(report.comment, 80))


def _history(report: Report) -> Any:
    entries = AuditEntry.objects.filter(target_type="Report", target_id=report.pk).order_by("-id")[
        : columns.COUNT_LIMIT
    ]
    return columns.table([_("When"), _("What")], history_of(list(entries), f"@{report.target_account.acct}"))


def _settling(name: str, title: Any, action: str, question: Any) -> Act:
    """Return an action that acts on the posts of reports, settles the reports and issues strikes."""

    def settle(by: Staff, report: Report, sent: dict[str, Any]) -> None:
        posts = report.status_ids
        act_on_posts(by=by, account=report.target_account, action=action, status_ids=posts, report=report, **sent)

    done = ngettext_lazy("%(count)d report was resolved.", "%(count)d reports were resolved.", "count")
    return Act(name, title, settle, many=Words(question, done), form=WordsForm, verb=action)


@admin.register(Report)
class ReportAdmin(InboxAdmin):
    """Reports, open and settled; open reports are decided in the inbox."""

    person_column = "target_account_id"
    waits = Q(action_taken_at=None)
    list_display = (REPORT_NUMBER, REPORT_TARGET, REPORT_COMMENT, REPORT_CATEGORY, REPORT_STATE, REPORTER, CREATION)
    list_filter = (REPORT_STATES.filter(), ("assigned_account", AutocompleteSelectFilter))
    list_select_related = ("account", "target_account")
    acts = (
        _settling(
            "delete_posts",
            _("Delete the reported posts"),
            StrikeAction.DELETE_STATUSES.value,
            _("Delete the posts of these reports? This cannot be undone."),
        ),
        _settling(
            "mark_sensitive",
            _("Mark the reported posts as sensitive"),
            StrikeAction.MARK_STATUSES_AS_SENSITIVE.value,
            _("Mark the posts of these reports as sensitive?"),
        ),
    )
    change_form_template = "admin/report.html"
    fieldsets = (
        lines(
            None,
            REPORT_TARGET,
            REPORTER,
            REPORT_CATEGORY,
            shown("rules", _("Rules"), _rules),
            shown("comment", _("Comment"), lambda report: format_html('<div dir="auto">{}</div>', report.comment)),
            shown("posts", _("Posts"), _posts),
        ),
        lines(
            _("State"),
            REPORT_STATE,
            CREATION,
            shown("forwarded", _("Forwarded")),
            account_column("assigned_account", _("Assigned to")),
            shown("action_taken_at", _("Resolved at")),
            account_column("action_taken_by", _("Resolved by")),
        ),
        lines(_("History"), shown("history", _("History"), _history)),
    )

    def name_of(self, row: Report) -> str:
        return f"{row.pk} (@{row.target_account.acct})"

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Render the report with the attached posts; viewing posts that are not public is logged."""
        report = context["original"]
        by = acting(request)
        report.evidence = open_evidence(by=by, report=report)
        role = find_role(report.target_account_id)
        context["may_act"] = bool(report.status_ids) and (role is None or outranks(by, role))
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer
