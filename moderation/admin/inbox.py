"""The inbox of staff in the admin: open reports by reported account, bulk decisions, and how they are undone."""

from collections.abc import Collection, Sequence
from math import ceil
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext

from accounts.admin.acting import acting, bound
from accounts.admin.permitted import PermittedAdmin
from accounts.models import Account, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, outranks_user
from moderation.acts import REPORTED_POST_ACTS
from moderation.admin.audit_sentences import history_of
from moderation.admin.decision_form import ACTS, CATEGORIES, MINUTES, POST_ACTS, DecisionForm, outcome
from moderation.admin.person_cards import shown_card
from moderation.admin.reported_posts import people_with_posts, seen_posts, threads
from moderation.models import Decision, Report, ReportCategory
from moderation.queries import inbox as queries
from moderation.queries.inbox import PEOPLE_SHOWN, REPORTS_SHOWN, open_reports, undoable_decisions
from moderation.queries.reports import reports_naming
from moderation.services.decisions import SANCTIONS, decide, undo_decision
from moderation.services.reports import note_posts_seen
from social.api.staff_columns import may_open
from social.api.staff_undo import forget, last_decisions, remember, see_other
from social.kernel.errors import KernelError
from social.kernel.ids import parse_id
from social.pages.frame import is_local_path

_PAGES: Final = 1000


class _Selection(NamedTuple):
    """The chosen accounts, the reports about them that the page showed, and the authors of the chosen posts by post id."""

    rows: QuerySet[Report]
    accounts: Sequence[int]
    authors: dict[int, int]


class InboxAdmin(PermittedAdmin):
    """Pages of the inbox, in addition to the list of reports."""

    permission = Permission.MANAGE_REPORTS

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        return [
            path("inbox/", view(self.inbox), name="moderation_report_inbox"),
            path("inbox/<int:account_id>/", view(self.case), name="moderation_report_case"),
            path("inbox/<int:account_id>/<int:status_id>/<slug:name>/", view(self.post), name="moderation_report_post"),
            path("inbox/undo/", view(self.undo_last), name="moderation_report_undo_last"),
            path("inbox/undo/<int:decision_id>/", view(self.undo), name="moderation_report_undo"),
            *super().get_urls(),
        ]

    def inbox(self, request: HttpRequest) -> HttpResponse:
        """Show the reported accounts, the most recently reported first. Raises PermissionDenied, BadRequest."""
        by = self._staff(request)
        chosen_filter = _requested_filter(request)
        assignee = by.account_id if chosen_filter["mine"] else None
        rows = open_reports(category=chosen_filter["category"], origin=chosen_filter["origin"], mine=assignee)
        form = _form(request, "decide")
        form.offer(by)
        posts = _submitted_ids(request.POST.getlist("post"))
        authors = queries.load_authors(posts)
        # Choosing a post also chooses its author.
        chosen = sorted({*_submitted_ids(request.POST.getlist("account")), *authors.values()})
        if form.is_bound:
            if not chosen:
                self.message_user(request, gettext("Select at least one account."), messages.WARNING)
            elif form.is_valid():
                # Reports that arrived after the page was loaded are not part of the decision.
                shown_rows = rows.filter(id__lte=_newest_shown_report(request), target_account_id__one_of=chosen)
                selection = _Selection(shown_rows, chosen, authors)
                if "confirmed" not in request.POST:
                    return self._confirm(request, selection, form)
                self._decide_each(request, by, selection, form)
                return see_other(request.get_full_path())
        count, reports = queries.count_reported(rows)
        number = min(chosen_filter["page"], max(1, ceil(count / PEOPLE_SHOWN)))
        people, page = queries.load_reported(rows, (number - 1) * PEOPLE_SHOWN)
        ticked: Collection[int] = posts
        select = request.POST.get("select", "")
        if select in ("people", "posts"):
            chosen = [person["target_account_id"] for person in people]
        if select == "posts":
            ticked = page.ids
        elif select == "none":
            chosen, ticked = [], ()
        context = {
            "title": gettext("Reports"),
            "people": people_with_posts(people, page, ticked, chosen),
            "count": count,
            "reports": reports,
            "last": rows.order_by("-id").values_list("id", flat=True).first() or 0,
            "form": form,
            "wanted": chosen_filter,
            "categories": CATEGORIES,
            "before": number - 1,
            "after": number + 1 if number * PEOPLE_SHOWN < count else 0,
            "decisions": _undoable(by).select_related("target_account")[:PEOPLE_SHOWN],
            "query": _query(chosen_filter),
        }
        return self._page(request, "admin/inbox.html", context)

    def case(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Show a reported account with its reports and posts, and take decisions about it. Viewing posts that are not
        public is logged. Raises PermissionDenied and Http404.
        """
        by = self._staff(request)
        target = get_object_or_404(Account, pk=account_id)
        form = _form(request, "acts", "text", "note")
        user = User.objects.select_related("role").filter(account=target).first()
        form.offer(by, outranked=outranks_user(by, user), local=target.local)
        posts: Collection[int] = _submitted_ids(request.POST.getlist("post"))
        chosen = _submitted_ids(request.POST.getlist("report")) if request.method == "POST" else None
        if form.is_bound and form.is_valid():
            decision = self._decide(request, by, target, chosen or (), posts, form)
            if decision is not None:
                remember(request, [decision])
                return self._redirect_to_next_case(target)
        case = queries.load_case(target, by.account_id)
        note_posts_seen(
            by=by,
            posts=[
                (post.id, f"@{target.acct}", post.visibility) for post in case.page.rows if post.id in set(case.posts)
            ],
        )
        select = request.POST.get("select", "")
        if select in ("posts", "none"):
            posts = case.posts if select == "posts" else ()
            chosen = None if select == "posts" else []
        context = {
            "title": f"@{target.acct}",
            "case": case,
            "card": shown_card(case.card),
            "target": target,
            "opens_accounts": may_open(Account),
            "posts": threads(case, posts),
            "form": form,
            "categories": CATEGORIES,
            "history": history_of(case.history, f"@{target.acct}"),
            "acts_on_post": REPORTED_POST_ACTS if outranks_user(by, user) else (),
            "rules": [
                (
                    report,
                    [case.rules[number].text for number in report.rule_ids or () if number in case.rules],
                    chosen is None or report.pk in chosen,
                )
                for report in case.reports
            ],
        }
        return self._page(request, "admin/case.html", context)

    def post(self, request: HttpRequest, account_id: int, status_id: int, name: str) -> HttpResponse:
        """Ask for confirmation of an action on one post, and carry it out. Raises PermissionDenied and Http404."""
        by = self._staff(request)
        target = get_object_or_404(Account, pk=account_id)
        act = next((act for act in REPORTED_POST_ACTS if act.name == name and act.one is not None), None)
        named = reports_naming(target, [status_id])
        if act is None or act.one is None or not named:
            raise Http404
        row: Any = named[0]
        row.reported_post = status_id
        before = _undoable(by).filter(target_account=target).first()
        case = reverse("admin:moderation_report_case", args=[target.pk])
        answer = self.about(request, row, bound(act, request, act.one), page=case)
        if answer.status_code in (302, 303):
            decision = _undoable(by).filter(target_account=target).first()
            if decision is not None and decision != before:
                remember(request, [decision])
        return answer

    def shown_posts(self, request: HttpRequest, rows: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the posts that these reports name; on the page of an action on one post, only that post."""
        numbers = {
            number
            for row in rows
            for number in ([row.reported_post] if "reported_post" in row.__dict__ else row.status_ids)
        }
        return seen_posts(acting(request), {row.target_account_id: row.target_account.acct for row in rows}, numbers)

    def undo(self, request: HttpRequest, decision_id: int) -> HttpResponse:
        """Undo a decision. Raises PermissionDenied and Http404."""
        by = self._staff(request)
        if request.method != "POST":
            raise Http404
        decision = get_object_or_404(Decision.objects.select_related("target_account"), pk=decision_id)
        self._undo(request, by, decision)
        return see_other(reverse("admin:moderation_report_case", args=[decision.target_account_id]))

    def undo_last(self, request: HttpRequest) -> HttpResponse:
        """Undo the last decision that this staff member took in this session. Raises PermissionDenied, and Http404 if there is
        none.
        """
        by = self._staff(request)
        numbers = last_decisions(request)
        if request.method != "POST" or not numbers:
            raise Http404
        rows = Decision.objects.select_related("target_account").filter(id__one_of=numbers).order_by("-id")
        for decision in rows:
            self._undo(request, by, decision)
        forget(request)
        page = request.POST.get("page", "")
        return see_other(page if is_local_path(page) else reverse("admin:moderation_report_inbox"))

    def _undo(self, request: HttpRequest, by: Staff, decision: Decision) -> None:
        try:
            undo_decision(by=by, decision=decision)
        except KernelError as error:
            self.message_user(request, f"@{decision.target_account.acct}: {error.message}", messages.ERROR)
        else:
            text = gettext("The decision about @%(name)s has been undone.") % {"name": decision.target_account.acct}
            self.message_user(request, text, messages.SUCCESS)

    def _staff(self, request: HttpRequest) -> Staff:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return acting(request)

    def _page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        return self.page(request, template, minutes=MINUTES, **context)

    def _confirm(self, request: HttpRequest, selection: _Selection, form: DecisionForm) -> TemplateResponse:
        """Ask for confirmation, and show the accounts, their reports, their chosen posts and the names of the actions.

        With a sanction, the page also shows open reports that were not on the previous page, because a sanction settles them
        too.
        """
        acts, words = form.cleaned_data["acts"], dict(ACTS)
        rows, chosen, authors = selection
        hidden = Report.objects.none()
        if set(acts) & set(SANCTIONS):
            hidden = open_reports().filter(target_account_id__one_of=chosen).exclude(id__in=rows.values("id"))
        people, page = queries.load_reported(rows, 0)
        context = {
            "title": gettext("Please confirm"),
            "people": people_with_posts(people, page, list(authors), chosen),
            "posts": list(authors),
            "several": len(people) > 1,
            "hidden": hidden.select_related("account", "target_account").order_by("-id")[:REPORTS_SHOWN],
            "hidden_count": hidden.count(),
            "categories": CATEGORIES,
            "last": _newest_shown_report(request),
            "form": form,
            "acts_on_posts": bool(POST_ACTS & set(acts)),
            "words": [words[act] for act in acts],
            "back": request.get_full_path(),
        }
        return self._page(request, "admin/decide.html", context)

    def _decide_each(self, request: HttpRequest, by: Staff, selection: _Selection, form: DecisionForm) -> None:
        decisions = []
        for account in Account.objects.filter(id__one_of=selection.accounts).order_by("id"):
            ids = list(selection.rows.filter(target_account=account).order_by("id").values_list("id", flat=True))
            if not ids:
                text = gettext("@%(name)s: somebody has already resolved these reports.") % {"name": account.acct}
                self.message_user(request, text, messages.WARNING)
                continue
            posts = [number for number, author in selection.authors.items() if author == account.pk]
            decisions.append(self._decide(request, by, account, ids, posts, form))
        remember(request, [decision for decision in decisions if decision is not None])

    def _decide(
        self,
        request: HttpRequest,
        by: Staff,
        target: Account,
        report_ids: Sequence[int],
        status_ids: Collection[int],
        form: DecisionForm,
    ) -> Decision | None:
        sent = form.cleaned_data
        try:
            decision = decide(by=by, target=target, report_ids=report_ids, status_ids=status_ids, **sent)
        except KernelError as error:
            self.message_user(request, f"@{target.acct}: {error.message}", messages.ERROR)
            return None
        self.log_change(request, target, "decide")
        self.message_user(request, outcome(decision, target), messages.SUCCESS)
        return decision

    def _redirect_to_next_case(self, done: Account) -> HttpResponseRedirect:
        """Redirect to the next reported account, or to the inbox if there is none."""
        following = open_reports().exclude(target_account=done).order_by("-id").first()
        if following is None:
            return see_other(reverse("admin:moderation_report_inbox"))
        return see_other(reverse("admin:moderation_report_case", args=[following.target_account_id]))


def _form(request: HttpRequest, *names: str) -> DecisionForm:
    """Return the form; it is bound only if a field in `names` was submitted. After a click on a selection button, the form is
    unbound, and its initial values are the submitted values.
    """
    if "select" in request.POST:
        sent = request.POST
        return DecisionForm(
            initial={"acts": sent.getlist("acts"), "text": sent.get("text", ""), "note": sent.get("note", "")}
        )
    return DecisionForm(request.POST if any(name in request.POST for name in names) else None)


def _undoable(by: Staff) -> QuerySet[Decision]:
    return undoable_decisions().filter(account=by.account_id)


def _requested_filter(request: HttpRequest) -> dict[str, Any]:
    category, origin = request.GET.get("category", ""), request.GET.get("origin", "")
    number = request.GET.get("page", "1")
    if category not in ("", *ReportCategory.values) or origin not in ("", "local", "remote"):
        raise BadRequest
    if not (number.isascii() and number.isdecimal()) or len(number) > 5 or not 1 <= int(number) <= _PAGES:
        raise BadRequest
    return {"category": category, "origin": origin, "mine": request.GET.get("mine") == "yes", "page": int(number)}


def _submitted_ids(sent: Sequence[str]) -> list[int]:
    """Return the submitted ids. Raises BadRequest for an invalid id, and for more than REPORTS_SHOWN ids."""
    ids = [parse_id(word) for word in sent]
    if len(ids) > REPORTS_SHOWN or None in ids:
        raise BadRequest
    return [number for number in ids if number is not None]


def _newest_shown_report(request: HttpRequest) -> int:
    number = parse_id(request.POST.get("last", ""))
    if number is None:
        raise BadRequest
    return number


def _query(wanted: dict[str, Any]) -> str:
    """Return the filter as the beginning of a query string, for links to other pages of the list."""
    values = {"category": wanted["category"], "origin": wanted["origin"], "mine": "yes" if wanted["mine"] else ""}
    return "".join(f"{name}={value}&" for name, value in values.items() if value)
