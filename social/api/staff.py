"""Base classes of the admin, whose theme is django-unfold. Every change calls a service: rows are not edited here.

Only the modules `social.api.staff*` import the theme; the apps' admin classes extend the classes of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action as unfold_action
from unfold.enums import ActionVariant as ActionVariant

from social.api.staff_acts import BoundAct
from social.api.staff_columns import CappedPaginator
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError
from social.kernel.ports import Port

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList

    Base = admin.ModelAdmin[Any]
else:  # The theme's classes have no types.
    from unfold.views import ChangeList

    Base = ModelAdmin
# Maximum number of chosen rows, because one request calls a service for each row, in separate transactions.
ROWS_LIMIT = 200
NAMES_LIMIT = 20
_CONFIRMED = "confirmed"
# Suffixes that the theme's filters append to a column's name in the URL.
_FIELD_LOOKUPS = {"", "__exact", "__id__exact", "__isnull", "__icontains"} | {
    f"_{end}{part}" for end in ("from", "to") for part in ("", "_0", "_1")
}


class PersonCards(Protocol):
    def __call__(self, account_ids: Collection[int]) -> Mapping[int, Any]:
        """Return the cards of these accounts for `admin/person.html`, keyed by account id, in a fixed number of statements."""
        ...


person_cards: Final[Port[PersonCards]] = Port("social.api.staff.person_cards")
Method = TypeVar("Method", bound=Callable[..., Any])


def takes(max_body: int) -> Callable[[Method], Method]:
    """Set the size limit, in bytes, of the forms of an admin page that takes files; the limit of other pages is one
    mebibyte.
    """

    def marked(method: Method) -> Method:
        method.max_body = max_body  # type: ignore[attr-defined]  # read from the URL pattern by the web server
        return method

    return marked


def action(
    *,
    description: str | Promise,
    icon: str,
    permissions: Sequence[str],
    variant: Any = ActionVariant.DEFAULT,
) -> Callable[[Method], Method]:
    """Make a method a button: on a row's page if `actions_detail` names it (arguments: request, object_id), above the list
    if `actions_list` names it (argument: request).

    `icon` is a name of Material Symbols. The button and its URL are for staff with one of the `permissions`
    (`has_<name>_permission`) only.
    """
    found: Callable[[Method], Method] = unfold_action(
        description=description, icon=icon, permissions=permissions, variant=variant
    )
    return found


class _Changes(ChangeList):
    """List page that shows the number of rows only after a search or with a filter."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count


#: Number of newest rows that are searched for parts of words, which no index can find.
SEARCHED = 10_000


def newest(rows: QuerySet[Any], limit: int = SEARCHED) -> QuerySet[Any]:
    """Return the part of `rows` that is among the newest `limit` rows of their table."""
    ids = rows.model._default_manager.order_by("-id").values_list("id", flat=True)
    return rows.filter(id__gt=next(iter(ids[limit : limit + 1]), 0))


class ReadOnlyAdmin(Base):
    """Read-only pages of a model. Each action names the role permission that it needs (`permissions=["manage"]`).

    Columns, and the lines of a row's page in `fieldsets`, are made by `staff_columns.shown`, with the admin's own labels.
    """

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = CappedPaginator
    list_per_page = 50
    list_fullwidth = True
    ordering: ClassVar[Any] = ("-id",)
    # Whether the command palette searches the model's rows, with `get_search_results`.
    in_palette: ClassVar[bool] = False
    # Column with the id of the account that a row is about; every confirmation page for rows shows these accounts.
    person_column: ClassVar[str] = ""
    # Condition for rows that are waiting for a staff decision.
    waits: ClassVar[Q | None] = None
    # This disables "Show all", which would put a whole table on one page.
    list_max_show_all = 0

    def waiting(self) -> QuerySet[Any] | None:
        """Return the rows waiting for a staff decision, which the sidebar counts; None if rows of this model never wait."""
        return None if self.waits is None else self.model._default_manager.filter(self.waits)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[_Changes]:
        return _Changes

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row; None if there is none, even for a key with a NUL character, for which PostgreSQL would raise an
        error.
        """
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def require_object(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the row. Raises Http404."""
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404
        return row

    def page(self, request: HttpRequest, template: str, **context: Any) -> TemplateResponse:
        """Return a page about this model, with the status 422 if the context's `form` has errors."""
        common = {**self.admin_site.each_context(request), "opts": self.model._meta}
        form = context.get("form")
        status = 422 if form is not None and form.errors else 200
        return TemplateResponse(request, template, common | context, status=status)

    def find_rows(self, rows: QuerySet[Any], term: str) -> QuerySet[Any] | None:
        """Return the rows that a search finds for a stripped term; None to use Django's search in `search_fields`."""
        return None

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        found = self.find_rows(queryset, term) if term else queryset
        return super().get_search_results(request, queryset, search_term) if found is None else (found, False)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Tell whether the URL may filter by `lookup`, which must be named in `list_filter` (security row 55).

        Django allows every column of the table, so that `password__startswith` would reveal a hash letter by letter.
        """
        for allowed in self.list_filter:
            if isinstance(allowed, str):
                if lookup in (allowed, f"{allowed}__exact", f"{allowed}__isnull"):
                    return True
            elif isinstance(allowed, tuple):
                column = str(allowed[0])
                if lookup.startswith(column) and lookup.removeprefix(column) in _FIELD_LOOKUPS:
                    return True
            elif lookup == getattr(allowed, "parameter_name", None):
                return True
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Return the list page. Raises BadRequest for a URL or a selection that none of our pages could have sent."""
        if any("\0" in value for values in request.GET.lists() for value in values[1]):
            raise BadRequest
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.model._meta.pk.to_python(key)
        except ValidationError:
            raise BadRequest from None
        answer: HttpResponse = super().changelist_view(request, extra_context)
        return answer

    # Services add, change and delete rows; the admin's own forms do not.
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_delete_permission = has_change_permission

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if self.fieldsets:
            return list(flatten_fieldsets(self.fieldsets))
        return [field.name for field in self.model._meta.fields]

    def name_of(self, row: Any) -> str:
        """Return the name of a row for confirmation pages and messages."""
        return str(row)

    def question_line(self, row: Any) -> str:
        """Return the line that stands for a row on a confirmation page."""
        return self.name_of(row)

    def shown_posts(self, request: HttpRequest, rows: Sequence[Any]) -> Sequence[Any]:
        """Return the posts that the confirmation page for these rows shows, for `admin/case_post.html`."""
        return ()

    def people_of(self, rows: Sequence[Any]) -> list[Any]:
        """Return the cards of the people whom these rows are about, without duplicates."""
        load = person_cards.find()
        numbers = [getattr(row, self.person_column) for row in rows] if self.person_column else []
        return [] if load is None else list(load([number for number in numbers if number is not None]).values())

    def ask_for(
        self, request: HttpRequest, form: type[StaffForm], question: str | Promise, *, yes: str | Promise = ""
    ) -> dict[str, Any] | TemplateResponse:
        """Return the valid answers to a question that concerns no row (`actions_list`), or otherwise the page that asks the
        question, whose button is labelled `yes`.
        """
        answers = self._answers(request, form)
        options = self.model._meta
        back = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
        return (
            answers.cleaned_data
            if answers.is_valid()
            else self._ask(request, [], question, answers, back=back, yes=yes)
        )

    def each(self, request: HttpRequest, queryset: QuerySet[Any], act: BoundAct) -> TemplateResponse | None:
        """Run an act on each chosen row, log it in the admin's log, and show messages about the result.

        If the act has a question, first return the page that asks the question, with the fields of the act's form. A message
        names each row that the service refuses, with the reason.
        """
        rows = list(queryset[: ROWS_LIMIT + 1])
        if len(rows) > ROWS_LIMIT:
            text = _("Select at most %(count)d rows: nothing was done.") % {"count": ROWS_LIMIT}
            self.message_user(request, text, messages.WARNING)
            return None
        if not rows:
            self.message_user(
                request, _("None of the selected rows exists any more: nothing was done."), messages.WARNING
            )
            return None
        answers = self._answers(request, act.form or StaffForm)
        if act.question and not answers.is_valid():
            return self._ask(request, rows, act.question, answers)
        if act.question and self._has_changed(request, rows):
            return None
        self._run(request, rows, act, answers)
        return None

    def one(self, request: HttpRequest, object_id: Any, act: BoundAct) -> HttpResponse:
        """Ask about one row, then run an act on it as `each` does. Used by the buttons of a row's page (`actions_detail`).

        Returns the page of the question, and after the answer a redirect to the row's page, or to the list if the row is
        gone. Raises Http404 for a row that this member of staff cannot see.
        """
        row = self.get_object(request, str(object_id))
        if row is None or not self.has_view_permission(request, row):
            raise Http404
        options = self.model._meta
        page = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[row.pk])
        answer = self.about(request, row, act, page=page)
        if isinstance(answer, TemplateResponse) or self.get_object(request, str(object_id)) is not None:
            return answer
        return redirect(f"admin:{options.app_label}_{options.model_name}_changelist")

    def about(self, request: HttpRequest, row: Any, act: BoundAct, *, page: str) -> HttpResponse:
        """Ask about a row that the caller has loaded, then run an act on it as `each` does, and redirect to `page`."""
        answers = self._answers(request, act.form or StaffForm)
        if not answers.is_valid():
            return self._ask(request, [row], act.question, answers, back=page)
        if not self._has_changed(request, [row]):
            self._run(request, [row], act, answers)
        return redirect(page)

    def version_of(self, row: Any) -> str:
        """Return the version of a row that its author can change while staff decide; empty for rows that only staff change."""
        return ""

    def seen_version(self, request: HttpRequest, row: Any) -> str:
        """Return the version of a row that this member of staff has seen."""
        return self.version_of(row)

    def _has_changed(self, request: HttpRequest, rows: list[Any]) -> bool:
        """Tell whether a row was changed after the member of staff saw it, and show a message if so (security row 73)."""
        changed = [row for row in rows if request.POST.get(f"version-{row.pk}", "") != self.version_of(row)]
        for row in changed:
            text = _("%(name)s has been changed in the meantime: look at it again. Nothing was done.") % {
                "name": self.name_of(row)
            }
            self.message_user(request, text, messages.ERROR)
        return bool(changed)

    def _answers(self, request: HttpRequest, form: type[StaffForm]) -> StaffForm:
        """Return a question's form, which is unbound until the question is answered."""
        answered = request.method == "POST" and _CONFIRMED in request.POST
        return form(request.POST, request.FILES) if answered else form()

    def _run(self, request: HttpRequest, rows: list[Any], act: BoundAct, answers: StaffForm) -> None:
        sent = [answers.cleaned_data] if act.form else []
        count = 0
        for row in rows:
            name = self.name_of(row)
            try:
                act.run(row, *sent)
            except KernelError as error:
                self.message_user(request, f"{name}: {error.message}", messages.ERROR)
                continue
            self.log_change(request, row, act.verb)
            count += 1
        if count:
            self.message_user(request, act.done % {"count": count}, messages.SUCCESS)

    def _ask(
        self,
        request: HttpRequest,
        rows: list[Any],
        question: str | Promise,
        answers: StaffForm,
        *,
        back: str = "",
        yes: str | Promise = "",
    ) -> TemplateResponse:
        """Return the page of a question; `back` is the path from which the page was opened, if that is not the list."""
        context = {
            "title": question,
            "rows": [self.question_line(row) for row in rows[:NAMES_LIMIT]],
            "people": self.people_of(rows[:NAMES_LIMIT]),
            "several": len(rows) > 1,
            "posts": self.shown_posts(request, rows[:NAMES_LIMIT]),
            "more": max(0, len(rows) - NAMES_LIMIT),
            "versions": [(row.pk, version) for row in rows if (version := self.seen_version(request, row))],
            "keys": [] if back else [row.pk for row in rows],
            "action": request.POST.get("action", ""),
            "form": answers,
            "checkbox": ACTION_CHECKBOX_NAME,
            "confirmed": _CONFIRMED,
            "yes": yes or _("Yes, continue"),
            "back": back or request.get_full_path(),
        }
        return self.page(request, "admin/ask.html", **context)
