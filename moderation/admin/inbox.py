"""The inbox of staff in the admin: open reports by reported account, bulk decisions, and ten minutes to undo them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, can, outranks_user
from moderation.models import Decision, Report, ReportCategory
from moderation.models.decision import UNDO_PERIOD
from moderation.models.note import NOTE_LIMIT
from moderation.models.report import STRIKE_TEXT_LIMIT
from moderation.queries.inbox import (
    PEOPLE_SHOWN,
    REPORTS_SHOWN,
    Case,
    count_reported,
    list_reported,
    load_case,
    open_reports,
    undoable_decisions,
)
from moderation.services.decisions import SANCTIONS, decide, undo_decision
from moderation.services.reports import note_posts_seen
from social.api.staff_columns import may_open
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError
from social.kernel.ids import parse_id
from statuses.pages.posts import posts_for_templates
from statuses.policies.visibility import OPEN_VISIBILITIES

CATEGORIES: Final = {
    ReportCategory.SPAM: _("Spam"),
    ReportCategory.LEGAL: _("Legal"),
    ReportCategory.VIOLATION: _("Violation of a rule"),
    ReportCategory.OTHER: _("Other"),
}
_MINUTES: Final = int(UNDO_PERIOD.total_seconds()) // 60
_ACTS: Final = (
    ("resolve", _("Resolve: nothing else is done")),
    ("assign", _("Take over")),
    ("warn", _("Warn")),
    ("mark", _("Mark the posts as sensitive")),
    ("delete", format_lazy(_("Delete the posts, in {minutes} minutes"), minutes=_MINUTES)),
    ("sensitive", _("Mark all media as sensitive")),
    ("silence", _("Limit the account")),
    ("disable", _("Disable sign-in")),
    ("suspend", _("Suspend the account")),
)
#: Acts on users; not offered for remote accounts, whose users are managed by their own server.
_USER_ACTS: Final = ("disable",)
#: Acts on reports: the moderator need not outrank the reported person.
_UNRANKED_ACTS: Final = ("resolve", "assign")
_PAGES: Final = 1000


class DecisionForm(StaffForm):
    """A decision about reported accounts."""

    acts = forms.MultipleChoiceField(
        label=_("What is done"), choices=_ACTS, required=False, widget=forms.CheckboxSelectMultiple
    )
    text = forms.CharField(
        label=_("What the person is told (may be empty)"),
        required=False,
        max_length=STRIKE_TEXT_LIMIT,
        widget=forms.Textarea({"rows": 3, "dir": "auto"}),
    )
    note = forms.CharField(
        label=_("Note for colleagues (may be empty)"),
        required=False,
        max_length=NOTE_LIMIT,
        widget=forms.Textarea({"rows": 2, "dir": "auto"}),
    )

    def offer(self, by: Staff, *, outranked: bool = True, local: bool = True) -> None:
        """Offer the acts that the role of `by` allows. `outranked`: whether `by` outranks the account; `local`: whether the
        account is local.
        """
        field: Any = self.fields["acts"]
        on_users = local and can(by, Permission.MANAGE_USERS)
        field.choices = [
            (act, words)
            for act, words in _ACTS
            if (outranked or act in _UNRANKED_ACTS) and (on_users or act not in _USER_ACTS)
        ]

    def clean(self) -> dict[str, Any]:
        """Require an act or a note. Resolving without sanction cannot be combined with an act on the person."""
        found = super().clean() or {}
        if not self.errors and not (found["acts"] or found["note"].strip()):
            raise forms.ValidationError(gettext("Choose what to do."))
        if not self.errors and "resolve" in found["acts"] and not set(found["acts"]) <= {"resolve", "assign"}:
            raise forms.ValidationError(gettext("Choose what is done, or that nothing else is done."))
        return found


class InboxAdmin(PermittedAdmin):
    """Pages of the inbox, beside the list of reports."""

    permission = Permission.MANAGE_REPORTS

    def get_urls(self) -> Any:
        """Return the URLs of the model and of the inbox."""
        view = self.admin_site.admin_view
        return [
            path("inbox/", view(self.inbox), name="moderation_report_inbox"),
            path("inbox/<int:account_id>/", view(self.case), name="moderation_report_case"),
            path("inbox/undo/<int:decision_id>/", view(self.undo), name="moderation_report_undo"),
            *super().get_urls(),
        ]

    def inbox(self, request: HttpRequest) -> HttpResponse:
        """Show the reported accounts, the most recently reported first. Raises PermissionDenied, and BadRequest for
        invalid parameters.
        """
        by = self._staff(request)
        wanted = _wanted(request)
        rows = open_reports(
            category=wanted["category"], origin=wanted["origin"], mine=by.account_id if wanted["mine"] else None
        )
        form = DecisionForm(request.POST if "decide" in request.POST else None)
        form.offer(by)
        chosen = _numbers(request.POST.getlist("account"))
        if form.is_bound:
            if not chosen:
                self.message_user(request, gettext("Choose whom it is about."), messages.WARNING)
            elif form.is_valid():
                # Reports that arrived after the page was loaded are not part of the decision.
                last = _last(request)
                shown_rows = rows.filter(id__lte=last, target_account_id__one_of=chosen)
                if "confirmed" not in request.POST:
                    return self._confirm(request, shown_rows, chosen, last, form)
                for account in Account.objects.filter(id__one_of=chosen).order_by("id"):
                    ids = list(shown_rows.filter(target_account=account).order_by("id").values_list("id", flat=True))
                    if ids:
                        self._decide(request, by, account, ids, form)
                    else:
                        text = gettext("@%(name)s: somebody has settled these reports already.") % {
                            "name": account.acct
                        }
                        self.message_user(request, text, messages.WARNING)
                return redirect(request.get_full_path())
        count = count_reported(rows)
        number = min(wanted["page"], max(1, ceil(count / PEOPLE_SHOWN)))
        context = {
            "title": gettext("Reports"),
            "people": list_reported(rows, (number - 1) * PEOPLE_SHOWN),
            "count": count,
            "last": rows.order_by("-id").values_list("id", flat=True).first() or 0,
            "form": form,
            "wanted": wanted,
            "categories": CATEGORIES,
            "before": number - 1,
            "after": number + 1 if number * PEOPLE_SHOWN < count else 0,
            "decisions": _recent(by),
            "query": "".join(
                f"{name}={value}&"
                for name, value in (
                    ("category", wanted["category"]),
                    ("origin", wanted["origin"]),
                    ("mine", "yes" if wanted["mine"] else ""),
                )
                if value
            ),
        }
        return self._page(request, "admin/inbox.html", context)

    def case(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Show one reported account with its reports and posts, and take decisions about it.

        A view of posts that are not public is logged. Raises PermissionDenied and Http404.
        """
        by = self._staff(request)
        target = Account.objects.filter(pk=account_id).first() if account_id < 1 << 63 else None
        if target is None:
            raise Http404
        form = DecisionForm(request.POST or None)
        user = User.objects.select_related("role").filter(account=target).first()
        form.offer(by, outranked=outranks_user(by, user), local=target.local)
        if form.is_bound and form.is_valid():
            chosen = _numbers(request.POST.getlist("report"))
            if self._decide(request, by, target, chosen, form):
                return self._next(target)
        found = load_case(target, by.account_id)
        note_posts_seen(
            by=by,
            posts=[
                (post.id, f"@{target.acct}", post.visibility) for post in found.page.rows if post.id in set(found.posts)
            ],
        )
        context = {
            "title": f"@{target.acct}",
            "case": found,
            "target": target,
            "opens_accounts": may_open(Account),
            "posts": _threads(found),
            "form": form,
            "categories": CATEGORIES,
            "rules": [
                (report, [found.rules[number].text for number in report.rule_ids or () if number in found.rules])
                for report in found.reports
            ],
        }
        return self._page(request, "admin/case.html", context)

    def undo(self, request: HttpRequest, decision_id: int) -> HttpResponse:
        """Undo a decision. Raises PermissionDenied and Http404."""
        by = self._staff(request)
        decision = (
            Decision.objects.select_related("target_account").filter(pk=decision_id).first()
            if decision_id < 1 << 63
            else None
        )
        if decision is None or request.method != "POST":
            raise Http404
        try:
            undo_decision(by=by, decision=decision)
        except KernelError as error:
            self.message_user(request, f"@{decision.target_account.acct}: {error.message}", messages.ERROR)
        else:
            text = gettext("What was done about @%(name)s is taken back.") % {"name": decision.target_account.acct}
            self.message_user(request, text, messages.SUCCESS)
        return redirect("admin:moderation_report_case", decision.target_account_id)

    def _staff(self, request: HttpRequest) -> Staff:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return acting(request)

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        known = {**self.admin_site.each_context(request), "opts": self.model._meta, "minutes": _MINUTES}
        status = 422 if context.get("form") is not None and context["form"].errors else 200
        return TemplateResponse(request, template, known | context, status=status)

    def _confirm(
        self, request: HttpRequest, rows: QuerySet[Report], chosen: Sequence[int], last: int, form: DecisionForm
    ) -> TemplateResponse:
        """Ask for confirmation, with the accounts, their reports and the names of the acts.

        Because a sanction also settles reports that the page did not show, the hidden reports are listed too.
        """
        words = dict(_ACTS)
        hidden = Report.objects.none()
        if set(form.cleaned_data["acts"]) & set(SANCTIONS):
            hidden = open_reports().filter(target_account_id__one_of=list(chosen)).exclude(id__in=rows.values("id"))
        context = {
            "title": gettext("Is this what you want?"),
            "people": list_reported(rows, 0),
            "hidden": hidden.select_related("account", "target_account").order_by("-id")[:REPORTS_SHOWN],
            "hidden_count": hidden.count(),
            "categories": CATEGORIES,
            "last": last,
            "form": form,
            "words": [words[act] for act in form.cleaned_data["acts"]],
            "back": request.get_full_path(),
        }
        return self._page(request, "admin/decide.html", context)

    def _decide(
        self, request: HttpRequest, by: Staff, target: Account, report_ids: Sequence[int], form: DecisionForm
    ) -> bool:
        sent = form.cleaned_data
        try:
            decision = decide(by=by, target=target, report_ids=report_ids, **sent)
        except KernelError as error:
            self.message_user(request, f"@{target.acct}: {error.message}", messages.ERROR)
            return False
        self.log_change(request, target, "decide")
        self.message_user(request, _outcome(decision, target), messages.SUCCESS)
        return True

    def _next(self, done: Account) -> HttpResponseRedirect:
        """Redirect to the next reported account, or to the inbox if there is none."""
        left = open_reports().exclude(target_account=done).order_by("-id").values_list("target_account_id", flat=True)
        following = left.first()
        if following is None:
            return redirect("admin:moderation_report_inbox")
        return redirect("admin:moderation_report_case", following)


def _wanted(request: HttpRequest) -> dict[str, Any]:
    """Return the filter and the page of the inbox from the query. Raises BadRequest for values that no page of the admin
    links to.
    """
    category, origin = request.GET.get("category", ""), request.GET.get("origin", "")
    number = request.GET.get("page", "1")
    if category not in ("", *ReportCategory.values) or origin not in ("", "local", "remote"):
        raise BadRequest
    if not (number.isascii() and number.isdecimal()) or len(number) > 5 or not 1 <= int(number) <= _PAGES:
        raise BadRequest
    return {"category": category, "origin": origin, "mine": request.GET.get("mine") == "yes", "page": int(number)}


def _numbers(sent: Sequence[str]) -> list[int]:
    """Return the submitted ids. Raises BadRequest for an invalid id, and for more than REPORTS_SHOWN ids."""
    found = [parse_id(word) for word in sent]
    if len(found) > REPORTS_SHOWN or None in found:
        raise BadRequest
    return [number for number in found if number is not None]


def _last(request: HttpRequest) -> int:
    """Return the id of the newest report on the submitted page. Raises BadRequest if it is not an id."""
    number = parse_id(request.POST.get("last", ""))
    if number is None:
        raise BadRequest
    return number


def _outcome(decision: Decision, target: Account) -> str:
    """Return a sentence about the outcome of a decision."""
    count = len(decision.report_ids)
    if not decision.can_be_undone:
        text = (
            gettext("@%(name)s: you have taken these reports over.")
            if "assign" in decision.acts
            else gettext("@%(name)s: the note is kept.")
        )
    elif not count:
        text = gettext("@%(name)s: done. You can take this back for %(minutes)d minutes.")
    else:
        text = ngettext(
            "@%(name)s: %(count)d report is settled. You can take this back for %(minutes)d minutes.",
            "@%(name)s: %(count)d reports are settled. You can take this back for %(minutes)d minutes.",
            count,
        )
    return text % {"name": target.acct, "count": count, "minutes": _MINUTES}


def _recent(by: Staff) -> list[Decision]:
    """List the decisions of this member of staff that can still be undone."""
    return list(undoable_decisions().filter(account=by.account_id).select_related("target_account")[:PEOPLE_SHOWN])


def _threads(found: Case) -> list[dict[str, Any]]:
    """Return the reported posts as pages show them, each with its ancestors (`above`) and its replies (`below`)."""
    entities = {int(entity["id"]): entity for entity in posts_for_templates(found.page)}
    visibility = {post.id: post.visibility for post in found.page.rows}
    return [
        entities[number]
        | {
            "restricted": visibility[number] not in OPEN_VISIBILITIES,
            "above": [entities[other] for other in found.above.get(number, ()) if other in entities],
            "below": [entities[other] for other in found.below.get(number, ()) if other in entities],
        }
        for number in found.posts
        if number in entities
    ]
