"""Knows how staff come into Django's admin, and that nothing is edited there: every change is an action of a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:  # Django's class takes no type argument when it runs
    Base = admin.ModelAdmin
FLOORS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")


class StaffSite(admin.AdminSite):
    """The admin of this server. It has no sign-in of its own: the site's is used, with its second factor.

    Only what the house registers is shown: libraries bring forms that write past the services.
    """

    site_header = _("Social administration")
    site_title = _("Social administration")
    index_title = _("Overview")
    enable_nav_sidebar = True

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Take what the house itself registers, pass over all others: libraries would show secrets and write freely."""
        if admin_class is not None and admin_class.__module__.partition(".")[0] in FLOORS:
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, with a second factor unless STAFF_SECOND_FACTOR=no (local trials)."""
        user: Any = request.user
        if not (user.is_authenticated and user.is_active and user.is_staff):
            return False
        return not settings.STAFF_SECOND_FACTOR or is_mfa_enabled(user)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """To the site's sign-in; staff without a second factor to where they add one, all others are refused."""
        user: Any = request.user
        if not user.is_authenticated:
            return redirect_to_login(request.get_full_path(), settings.LOGIN_URL)
        if user.is_staff and user.is_active:
            return redirect("mfa_index")
        raise PermissionDenied


class ReadOnlyAdmin(Base):
    """A model that is looked at. Actions name the role's permission they need in `action_permissions`."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds rows here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody edits rows here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes rows here."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All of them."""
        return [field.name for field in self.model._meta.fields]

    def each(self, request: HttpRequest, queryset: QuerySet[Any], verb: str, act: Any) -> None:
        """Run a service for each chosen row and note it in the admin's log."""
        for row in queryset:
            act(row)
            self.log_change(request, row, verb)
        self.message_user(request, _("Done: %(verb)s (%(count)d)") % {"verb": verb, "count": len(queryset)})
