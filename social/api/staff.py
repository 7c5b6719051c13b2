"""Django's admin for staff. Nothing is edited there: every change is an action that calls a service."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from social.api.staff_columns import CappedPaginator
from social.kernel.errors import KernelError

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:  # Django's class takes no type argument when it runs
    Base = admin.ModelAdmin
APPS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
# Each chosen row is a service with a transaction of its own, and all of them are one request.
ROWS_LIMIT = 200
NAMES_LIMIT = 20
_CONFIRMED = "confirmed"


class StaffSite(admin.AdminSite):
    """The admin of this server. It has no sign-in of its own: the site's is used, with its second factor.

    Only what the project registers is shown: libraries bring forms that write past the services.
    """

    site_header = _("Social administration")
    site_title = _("Social administration")
    index_title = _("Overview")
    enable_nav_sidebar = True

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Take what the project itself registers, pass over all others: libraries would show secrets and write freely."""
        if admin_class is not None and admin_class.__module__.partition(".")[0] in APPS:
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, with a second factor unless STAFF_SECOND_FACTOR=no (local trials)."""
        user: Any = request.user
        if not (user.is_authenticated and user.is_active and user.is_staff):
            return False
        return not settings.STAFF_SECOND_FACTOR or is_mfa_enabled(user)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the site's sign-in and from there to the page asked for; staff without a second factor to where they add
        one, all others are refused.
        """
        user: Any = request.user
        wanted = self._wanted(request)
        if not user.is_authenticated:
            return redirect_to_login(wanted, settings.LOGIN_URL)
        if self.has_permission(request):
            return redirect(wanted)
        if user.is_staff and user.is_active:
            return redirect("mfa_index")
        raise PermissionDenied

    def _wanted(self, request: HttpRequest) -> str:
        """The page of the admin that somebody was on the way to; never this one, which would lead here again."""
        index = reverse("admin:index", current_app=self.name)
        wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
        here = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith(index)
        return wanted if here and not wanted.startswith(reverse("admin:login")) else index

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """The site's own page: a new password ends sessions, tokens and streams there (security row 24)."""
        return redirect("account_change_password")


class ReadOnlyAdmin(Base):
    """A model that is looked at. Actions name the role's permission they need (`permissions=["manage"]`).

    Columns, and the lines of a row's page in `fieldsets`, are made by `staff_columns.shown`: the words are the
    admin's, not the table's.
    """

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = CappedPaginator
    list_per_page = 50
    # "Show all" would put a whole table on one page.
    list_max_show_all = 0

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

    def each(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        act: Callable[[Any], Any],
        *,
        verb: str,
        done: Callable[[int], str],
        question: str | Promise = "",
        asks_for: str | Promise = "",
    ) -> TemplateResponse | None:
        """Run a service for each chosen row, note it in the admin's log under `verb`, and say what happened.

        With a `question` nothing happens until it was answered: the page that asks it is returned, with a field for the `text`
        of what it `asks_for`. `done` makes the
        sentence for a count, with `%(count)d` in it. A row that its service refuses is named with the reason.
        """
        rows = list(queryset[: ROWS_LIMIT + 1])
        if len(rows) > ROWS_LIMIT:
            text = _("Choose %(count)d rows at most: nothing was done.") % {"count": ROWS_LIMIT}
            self.message_user(request, text, messages.WARNING)
            return None
        if rows and question and _CONFIRMED not in request.POST:
            return self._ask(request, rows, question, asks_for)
        count = 0
        for row in rows:
            try:
                act(row)
            except KernelError as error:
                self.message_user(request, f"{self.name_of(row)}: {error.message}", messages.ERROR)
                continue
            self.log_change(request, row, verb)
            count += 1
        if count:
            self.message_user(request, done(count) % {"count": count}, messages.SUCCESS)
        return None

    def _ask(
        self, request: HttpRequest, rows: list[Any], question: str | Promise, asks_for: str | Promise
    ) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": question,
            "opts": self.model._meta,
            "rows": [self.name_of(row) for row in rows[:NAMES_LIMIT]],
            "more": max(0, len(rows) - NAMES_LIMIT),
            "keys": [row.pk for row in rows],
            "action": request.POST["action"],
            "asks_for": asks_for,
            "checkbox": ACTION_CHECKBOX_NAME,
            "confirmed": _CONFIRMED,
            "back": request.get_full_path(),
        }
        return TemplateResponse(request, "admin/ask.html", context)
