"""How staff see the people of this server, and what they may do to them."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import account_link, matching
from accounts.admin.roles import role_name
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.staff import Staff, can, staff_of
from accounts.services import staff
from social.api.staff import ReadOnlyAdmin
from social.api.staff_columns import NOTHING, ConditionFilter, address, lines, mark, shown

_UNCONFIRMED = ~Exists(EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True))


class StateFilter(ConditionFilter):
    """Whether they can use their account."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waits for approval"), Q(approved=False)),
        "unconfirmed": (gettext_lazy("Address not confirmed"), Q(unconfirmed=True)),
        "disabled": (gettext_lazy("Disabled"), Q(disabled_at__isnull=False)),
        "suspended": (gettext_lazy("Suspended"), Q(account__suspended_at__isnull=False)),
    }


class RoleFilter(admin.SimpleListFilter):
    """Who has which role."""

    title = gettext_lazy("role")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """The roles there are, the highest first."""
        return [(str(role.pk), role_name(role)) for role in Role.objects.order_by("-position")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        """Those who have it."""
        value = self.value() or ""
        return queryset.filter(role_id=int(value)) if value.removeprefix("-").isdecimal() else queryset


def acting(request: HttpRequest) -> Staff:
    """Whoever works in the admin, for the services."""
    user: Any = request.user
    return staff_of(user)


def _state(user: Any) -> SafeString:
    """The first reason why the account cannot be used, in the order of `queries.identities.find_sign_in_state`."""
    if user.disabled_at is not None:
        return mark(_("Disabled"), "bad")
    if user.account.suspended:
        return mark(_("Suspended"), "bad")
    if user.unconfirmed:
        return mark(_("Address not confirmed"), "waiting")
    return mark(_("Active"), "good") if user.approved else mark(_("Waits for approval"), "waiting")


def _role(user: User) -> str:
    return role_name(user.role) if user.role_id != EVERYONE_ROLE_ID else NOTHING


USERNAME = shown(
    "username", gettext_lazy("User"), lambda user: address(f"@{user.account.username}"), order="account__username"
)
EMAIL = shown("email", gettext_lazy("E-mail address"), order="email", minor=True)
ROLE = shown("role", gettext_lazy("Role"), _role, order="role__position")
STATE = shown("state", gettext_lazy("State"), _state)
JOINED = shown("created_at", gettext_lazy("Joined"), order="id", minor=True)
SEEN = shown("active_at", gettext_lazy("Last seen"), order="active_at", minor=True)


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """Local users. Who acts must outrank whom they act on."""

    list_display = (USERNAME, EMAIL, ROLE, STATE, JOINED, SEEN)
    list_filter = (StateFilter, RoleFilter)
    list_select_related = ("account", "role")
    search_fields = ("email",)
    search_help_text = gettext_lazy("A username, an e-mail address, or a part of one")
    ordering = ("-id",)
    actions = ("approve", "confirm", "disable", "enable")
    # Neither the password's hash nor what people have set for themselves: nobody needs to see them.
    fieldsets = (
        lines(
            None,
            shown("account", gettext_lazy("Account"), lambda user: account_link(user.account)),
            EMAIL,
            ROLE,
            STATE,
            shown("disabled_at", gettext_lazy("Disabled since")),
            SEEN,
        ),
        lines(
            gettext_lazy("Sign-up"),
            JOINED,
            shown("sign_up_reason", gettext_lazy("Why they want to join")),
            shown("sign_up_ip", gettext_lazy("IP address")),
            shown(
                "application",
                gettext_lazy("By the app"),
                lambda user: getattr(user.created_by_application, "name", None),
            ),
            shown("locale", gettext_lazy("Language")),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """With whether the address is confirmed, which is allauth's to know."""
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.select_related("account", "role").annotate(unconfirmed=_UNCONFIRMED)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        """By e-mail address or username, the way people write them."""
        term = search_term.strip()
        if not term:
            return queryset, False
        by_name = matching(User.objects.all(), term, "account__").values("pk")
        return queryset.filter(Q(email__icontains=term) | Q(pk__in=by_name)), False

    def name_of(self, row: User) -> str:
        """Username and address."""
        return f"@{row.account.username} ({row.email})"

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Whether the role may act on users."""
        return can(acting(request), Permission.MANAGE_USERS)

    @admin.action(description=gettext_lazy("Let the chosen users in"), permissions=["manage"])
    def approve(self, request: HttpRequest, queryset: QuerySet[User]) -> TemplateResponse | None:
        """Approve."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda user: staff.approve(by=by, user=user),
            verb="approve",
            done=lambda count: ngettext("%(count)d user was let in.", "%(count)d users were let in.", count),
        )

    @admin.action(description=gettext_lazy("Take their e-mail addresses for confirmed"), permissions=["manage"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[User]) -> TemplateResponse | None:
        """Confirm."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda user: staff.confirm(by=by, user=user),
            verb="confirm",
            done=lambda count: ngettext(
                "%(count)d e-mail address counts as confirmed.", "%(count)d e-mail addresses count as confirmed.", count
            ),
            question=gettext_lazy("Take these e-mail addresses for confirmed, without a mail having been answered?"),
        )

    @admin.action(description=gettext_lazy("Disable: refuse sign-in and every request"), permissions=["manage"])
    def disable(self, request: HttpRequest, queryset: QuerySet[User]) -> TemplateResponse | None:
        """Disable."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda user: staff.disable(by=by, user=user),
            verb="disable",
            done=lambda count: ngettext("%(count)d user was disabled.", "%(count)d users were disabled.", count),
            question=gettext_lazy("Disable these users? They are signed out everywhere and cannot sign in."),
        )

    @admin.action(description=gettext_lazy("Enable again"), permissions=["manage"])
    def enable(self, request: HttpRequest, queryset: QuerySet[User]) -> TemplateResponse | None:
        """Enable."""
        by = acting(request)
        return self.each(
            request,
            queryset,
            lambda user: staff.enable(by=by, user=user),
            verb="enable",
            done=lambda count: ngettext(
                "%(count)d user can sign in again.", "%(count)d users can sign in again.", count
            ),
        )
