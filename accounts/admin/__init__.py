"""Staff look at people and act on them; every action is a service of this floor."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, Role, User
from accounts.models.user import Permission
from accounts.services import staff
from social.api.staff import ReadOnlyAdmin


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """Local users. Who acts must outrank whom they act on."""

    list_display = ("account", "email", "role", "approved", "disabled_at", "created_at", "active_at")
    list_filter = ("approved", "role", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("account", "role")
    search_fields = ("email", "account__username")
    ordering = ("-id",)
    exclude = ("password",)
    actions = ("approve", "confirm", "disable", "enable")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All but the password's hash, which nobody needs to see."""
        return [name for name in super().get_readonly_fields(request, obj) if name != "password"]

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Whether the role may act on users."""
        user: Any = request.user
        return bool(user.role.can(Permission.MANAGE_USERS))

    def _below(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        me: Any = request.user
        below = queryset.select_related("account", "role").filter(role__position__lt=me.role.position)
        refused = queryset.count() - below.count()
        if refused:
            self.message_user(request, _("Some of them have a role you do not outrank."), messages.WARNING)
        return below

    @admin.action(description=_("Let the chosen users in"), permissions=["manage"])
    def approve(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Approve."""
        self.each(request, self._below(request, queryset), "approve", lambda user: staff.approve(user=user))

    @admin.action(description=_("Take their e-mail addresses for confirmed"), permissions=["manage"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Confirm."""
        self.each(request, self._below(request, queryset), "confirm", lambda user: staff.confirm(user=user))

    @admin.action(description=_("Disable: refuse sign-in and every request"), permissions=["manage"])
    def disable(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Disable."""
        self.each(request, self._below(request, queryset), "disable", lambda user: staff.disable(user=user))

    @admin.action(description=_("Enable again"), permissions=["manage"])
    def enable(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Enable."""
        self.each(request, self._below(request, queryset), "enable", lambda user: staff.enable(user=user))


@admin.register(Account)
class AccountAdmin(ReadOnlyAdmin):
    """Accounts of this server and of others."""

    list_display = ("acct", "display_name", "actor_type", "locked", "suspended_at", "limited_at", "created_at")
    list_filter = (("domain", admin.EmptyFieldListFilter), "actor_type", ("suspended_at", admin.EmptyFieldListFilter))
    search_fields = ("username", "domain", "display_name")
    ordering = ("-id",)
    list_select_related = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        """Without the columns nobody reads in a list."""
        rows: QuerySet[Account] = super().get_queryset(request)
        return rows.defer("note_html", "fields")


@admin.register(Role)
class RoleAdmin(ReadOnlyAdmin):
    """Roles; they are given by `manage.py modify_account`."""

    list_display = ("name", "position", "permissions", "highlighted")
    ordering = ("-position",)
