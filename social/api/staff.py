"""Classes of the admin, with django-unfold as its theme. Nothing is edited there: every change calls a service.

The theme is known to the modules `social.api.staff*` alone; admin classes extend those of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action as unfold_action
from unfold.enums import ActionVariant as ActionVariant

from social.api.staff_columns import CappedPaginator
from social.api.staff_forms import StaffForm
from social.kernel.errors import KernelError

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList
    from django.utils.functional import _StrPromise

    Base = admin.ModelAdmin[Any]
else:  # The theme's classes have no types.
    from unfold.views import ChangeList

    Base = ModelAdmin
# Each chosen row is a service with a transaction of its own, and all of them are one request.
ROWS_LIMIT = 200
NAMES_LIMIT = 20
_CONFIRMED = "confirmed"
# What the theme's filters of a column put behind its name, in the address.
_FIELD_LOOKUPS = {"", "__exact", "__id__exact", "__isnull", "__icontains"} | {
    f"_{end}{part}" for end in ("from", "to") for part in ("", "_0", "_1")
}


Method = TypeVar("Method", bound=Callable[..., Any])


def takes(max_body: int) -> Callable[[Method], Method]:
    """Let a page of the admin take forms of so many bytes, where files are sent to it; other pages take a mebibyte."""

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
    url_path: str | None = None,
) -> Callable[[Method], Method]:
    """Make a method (request, object_id) a button of a row's page, where `actions_detail` names it, or a method (request) one
    of the list, where `actions_list` does.

    `icon` is a name of Material Symbols; who lacks one of the `permissions` (`has_<name>_permission`) neither sees it nor
    may open its address.
    """
    found: Callable[[Method], Method] = unfold_action(
        description=description, icon=icon, permissions=permissions, variant=variant, url_path=url_path
    )
    return found


class _Changes(ChangeList):
    """A list that says how many rows were found only where something was looked for."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count


#: Rows among which parts of words are looked for: nothing but reading finds those.
SEARCHED = 10_000


def newest(rows: QuerySet[Any], limit: int = SEARCHED) -> QuerySet[Any]:
    """Rows that are among the last `limit` of their table."""
    ids = rows.model._default_manager.order_by("-id").values_list("id", flat=True)
    return rows.filter(id__gt=next(iter(ids[limit : limit + 1]), 0))


class ReadOnlyAdmin(Base):
    """A model that is looked at. Actions name the role's permission they need (`permissions=["manage"]`).

    Columns, and the lines of a row's page in `fieldsets`, are made by `staff_columns.shown`: the words are the
    admin's, not the table's.
    """

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = CappedPaginator
    list_per_page = 50
    list_fullwidth = True
    # Whether the command palette looks for its rows, by `get_search_results`.
    in_palette: ClassVar[bool] = False
    # "Show all" would put a whole table on one page.
    list_max_show_all = 0

    def waiting(self) -> QuerySet[Any] | None:
        """The rows that wait for staff: their number stands in the sidebar. None where nothing ever waits."""
        return None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[_Changes]:
        return _Changes

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row, or None; with a NUL in its key there is none, and PostgreSQL would refuse the question."""
        return None if "\0" in object_id else super().get_object(request, object_id, from_field)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Tell whether the address may filter by this: only by what `list_filter` names (security row 55).

        Django allows every column of the table, so that `password__startswith` reads a hash letter by letter.
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
        """The list. Raises BadRequest for an address or a selection that no page of ours could have made."""
        if any("\0" in value for values in request.GET.lists() for value in values[1]):
            raise BadRequest
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.model._meta.pk.to_python(key)
        except ValidationError:
            raise BadRequest from None
        answer: HttpResponse = super().changelist_view(request, extra_context)
        return answer

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuses everybody: rows are not added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuses everybody: rows are not edited here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuses everybody: rows are not deleted here."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return the fields that are shown: the lines of `fieldsets`, or every field."""
        if self.fieldsets:
            return list(flatten_fieldsets(self.fieldsets))
        return [field.name for field in self.model._meta.fields]

    def name_of(self, row: Any) -> str:
        """The name of a row where people are asked about it."""
        return str(row)

    def ask_for(
        self, request: HttpRequest, form: type[StaffForm], question: str | Promise, *, yes: str | Promise = ""
    ) -> dict[str, Any] | TemplateResponse:
        """Return what was answered to a question that is about no row, or the page that asks it: for `actions_list`. `yes` is
        what stands on its button.
        """
        answers = self._answers(request, form)
        options = self.model._meta
        back = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
        return (
            answers.cleaned_data
            if answers.is_valid()
            else self._ask(request, [], question, answers, back=back, yes=yes)
        )

    def each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        act: Callable[..., Any],
        *,
        verb: str,
        done: str | _StrPromise,
        question: str | Promise = "",
        form: type[StaffForm] | None = None,
    ) -> TemplateResponse | None:
        """Run a service for each chosen row, note it in the admin's log under `verb`, and say what happened.

        With a `question` nothing happens until it was answered: the page that asks it is returned, with the fields of `form`,
        whose `cleaned_data` is then given to `act` beside the row. `done` may hold `%(count)d`, and be a lazy plural by
        `count`. A row that its service refuses is named with the reason.
        """
        rows = list(queryset[: ROWS_LIMIT + 1])
        if len(rows) > ROWS_LIMIT:
            text = _("Choose %(count)d rows at most: nothing was done.") % {"count": ROWS_LIMIT}
            self.message_user(request, text, messages.WARNING)
            return None
        answers = self._answers(request, form or StaffForm)
        if rows and question and not answers.is_valid():
            return self._ask(request, rows, question, answers)
        if question and self._has_changed(request, rows):
            return None
        self._run(request, rows, act, [answers.cleaned_data] if form else [], verb=verb, done=done)
        return None

    def one(
        self,
        request: HttpRequest,
        object_id: Any,
        act: Callable[..., Any],
        *,
        verb: str,
        done: str | _StrPromise,
        question: str | Promise,
        form: type[StaffForm] | None = None,
    ) -> HttpResponse:
        """Ask about one row, then run a service on it as `each` does: for the page actions of a row (`actions_detail`).

        Returns the question, and after the answer the way back to the row's page, or to the list when there is none any more.
        Raises Http404 for a row that this person cannot see.
        """
        row = self.get_object(request, str(object_id))
        if row is None or not self.has_view_permission(request, row):
            raise Http404
        options = self.model._meta
        page = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[row.pk])
        answers = self._answers(request, form or StaffForm)
        if not answers.is_valid():
            return self._ask(request, [row], question, answers, back=page)
        if self._has_changed(request, [row]):
            return redirect(page)
        self._run(request, [row], act, [answers.cleaned_data] if form else [], verb=verb, done=done)
        if self.get_object(request, str(object_id)) is None:
            page = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
        return redirect(page)

    def version_of(self, row: Any) -> str:
        """The version of a row that its author can change while staff decide; empty for rows that nobody else changes."""
        return ""

    def seen_version(self, request: HttpRequest, row: Any) -> str:
        """The version of a row that this member of staff has seen."""
        return self.version_of(row)

    def _has_changed(self, request: HttpRequest, rows: list[Any]) -> bool:
        """Tell whether a row was changed after the member of staff saw it, and show a message if so (security row 73)."""
        changed = [row for row in rows if request.POST.get(f"version-{row.pk}", "") != self.version_of(row)]
        for row in changed:
            text = _("%(name)s was changed meanwhile: look at it again. Nothing was done.") % {
                "name": self.name_of(row)
            }
            self.message_user(request, text, messages.ERROR)
        return bool(changed)

    def _answers(self, request: HttpRequest, form: type[StaffForm]) -> StaffForm:
        """The form of a question: empty until it was asked."""
        answered = request.method == "POST" and _CONFIRMED in request.POST
        return form(request.POST, request.FILES) if answered else form()

    def _run(
        self,
        request: HttpRequest,
        rows: list[Any],
        act: Callable[..., Any],
        answers: list[dict[str, Any]],
        *,
        verb: str,
        done: str | _StrPromise,
    ) -> None:
        count = 0
        for row in rows:
            name = self.name_of(row)
            try:
                act(row, *answers)
            except KernelError as error:
                self.message_user(request, f"{name}: {error.message}", messages.ERROR)
                continue
            self.log_change(request, row, verb)
            count += 1
        if count:
            self.message_user(request, done % {"count": count}, messages.SUCCESS)

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
        """The page of a question; `back` is where it came from, when that is not the list."""
        context = {
            **self.admin_site.each_context(request),
            "title": question,
            "opts": self.model._meta,
            "rows": [self.name_of(row) for row in rows[:NAMES_LIMIT]],
            "more": max(0, len(rows) - NAMES_LIMIT),
            "versions": [(row.pk, version) for row in rows if (version := self.seen_version(request, row))],
            "keys": [] if back else [row.pk for row in rows],
            "action": request.POST.get("action", ""),
            "form": answers,
            "checkbox": ACTION_CHECKBOX_NAME,
            "confirmed": _CONFIRMED,
            "yes": yes or _("Yes, do it"),
            "back": back or request.get_full_path(),
        }
        return TemplateResponse(request, "admin/ask.html", context, status=422 if answers.errors else 200)
