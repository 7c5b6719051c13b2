"""Local users and their roles, for staff, and the actions that staff may take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.acts import APPROVE, CONFIRM, DISABLE_USERS, ENABLE, REJECT
from accounts.admin.accounts import account_link, matching
from accounts.admin.acting import ActingAdmin
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.audience import is_present
from accounts.policies.staff import Staff, outranks_user
from social.api.staff_columns import PLACEHOLDER, ConditionFilter, address, lines, mark, shortened, shown
from social.api.staff_filters import DropdownFilter

PERMISSION_NAMES = {
    Permission.ADMINISTRATOR: gettext_lazy("Everything"),
    Permission.VIEW_DEVOPS: gettext_lazy("See the machinery"),
    Permission.VIEW_AUDIT_LOG: gettext_lazy("See what staff did"),
    Permission.VIEW_DASHBOARD: gettext_lazy("See the figures"),
    Permission.MANAGE_REPORTS: gettext_lazy("Reports and posts"),
    Permission.MANAGE_FEDERATION: gettext_lazy("Other servers"),
    Permission.MANAGE_SETTINGS: gettext_lazy("Settings"),
    Permission.MANAGE_BLOCKS: gettext_lazy("Sign-up blocks"),
    Permission.MANAGE_TAXONOMIES: gettext_lazy("Trends and hashtags"),
    Permission.MANAGE_APPEALS: gettext_lazy("Appeals"),
    Permission.MANAGE_USERS: gettext_lazy("Users"),
    Permission.MANAGE_INVITES: gettext_lazy("Invitations"),
    Permission.MANAGE_RULES: gettext_lazy("Rules"),
    Permission.MANAGE_ANNOUNCEMENTS: gettext_lazy("Announcements"),
    Permission.MANAGE_CUSTOM_EMOJIS: gettext_lazy("Custom emoji"),
    Permission.MANAGE_WEBHOOKS: gettext_lazy("Webhooks"),
    Permission.INVITE_USERS: gettext_lazy("Invite people"),
    Permission.MANAGE_ROLES: gettext_lazy("Roles"),
    Permission.MANAGE_USER_ACCESS: gettext_lazy("Access of users"),
    Permission.DELETE_USER_DATA: gettext_lazy("Delete users' data"),
    Permission.VIEW_FEEDS: gettext_lazy("See closed timelines"),
    Permission.INVITE_BYPASS_APPROVAL: gettext_lazy("Invite without approval"),
    Permission.MANAGE_EMAIL_SUBSCRIPTIONS: gettext_lazy("E-mail subscriptions"),
}


def role_name(role: Role) -> str:
    """The role's name; for the role of everybody, which has no name, a translated text."""
    return role.name or _("Everyone")


_UNCONFIRMED = ~Exists(EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True))


class StateFilter(ConditionFilter):
    """Filter by whether users can use their account."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waits for approval"), Q(approved=False)),
        "unconfirmed": (gettext_lazy("Address not confirmed"), Q(unconfirmed=True)),
        "disabled": (gettext_lazy("Disabled"), Q(disabled_at__isnull=False)),
        "suspended": (gettext_lazy("Suspended"), ~is_present("account")),
    }


class RoleFilter(DropdownFilter):
    title = gettext_lazy("role")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Roles, in descending order of rank."""
        return [(str(role.pk), role_name(role)) for role in Role.objects.order_by("-position")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        value = self.value() or ""
        return queryset.filter(role_id=int(value)) if value.removeprefix("-").isdecimal() else queryset


def _state(user: Any) -> SafeString:
    """The first reason why the account cannot be used, in the order of `queries.tokens.find_sign_in_state`."""
    if user.disabled_at is not None:
        return mark(_("Disabled"), "bad")
    if user.account.suspended:
        return mark(_("Suspended"), "bad")
    if user.unconfirmed:
        return mark(_("Address not confirmed"), "waiting")
    return mark(_("Active"), "good") if user.approved else mark(_("Waits for approval"), "waiting")


def _role(user: User) -> str:
    return role_name(user.role) if user.role_id != EVERYONE_ROLE_ID else PLACEHOLDER


REASON = shown(
    "sign_up_reason", gettext_lazy("Why they want to join"), lambda user: shortened(user.sign_up_reason, 400)
)
ADDRESS = shown("sign_up_ip", gettext_lazy("IP address"), minor=True)
USERNAME = shown(
    "username", gettext_lazy("User"), lambda user: address(f"@{user.account.username}"), order="account__username"
)
EMAIL = shown("email", gettext_lazy("E-mail address"), order="email", minor=True)
ROLE = shown("role", gettext_lazy("Role"), _role, order="role__position")
STATE = shown("state", gettext_lazy("State"), _state)
JOINED = shown("created_at", gettext_lazy("Joined"), order="id", minor=True)
LAST_SEEN_TIME = shown("active_at", gettext_lazy("Last seen"), order="active_at", minor=True)


@admin.register(User)
class UserAdmin(ActingAdmin):
    """Local users. Staff can act only on users whom they outrank."""

    in_palette = True

    list_display = (USERNAME, EMAIL, REASON, ADDRESS, STATE, JOINED)
    list_filter = (StateFilter, RoleFilter)
    list_filter_submit = True
    list_select_related = ("account", "role")
    search_fields = ("email",)
    search_help_text = gettext_lazy("A username, an e-mail address, or a part of one")
    ordering = ("-id",)
    # The buttons of the other acts are on the page of the account.
    acts = (APPROVE, REJECT, replace(CONFIRM, one=None), DISABLE_USERS, replace(ENABLE, one=None))
    # Without the password hash and the user's own settings, which staff need not see.
    fieldsets = (
        lines(
            None,
            shown("account", gettext_lazy("Account"), lambda user: account_link(user.account)),
            EMAIL,
            ROLE,
            STATE,
            shown("disabled_at", gettext_lazy("Disabled since")),
            LAST_SEEN_TIME,
        ),
        lines(
            gettext_lazy("Sign-up"),
            JOINED,
            REASON,
            ADDRESS,
            shown(
                "application",
                gettext_lazy("By the app"),
                lambda user: getattr(user.created_by_application, "name", None),
            ),
            shown("locale", gettext_lazy("Language")),
        ),
    )

    def waiting(self) -> QuerySet[User]:
        """Users who have confirmed their e-mail address and wait for approval."""
        return User.objects.filter(approved=False, account__deleted_at=None).exclude(_UNCONFIRMED)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Users, each annotated with `unconfirmed`, which is read from allauth's table; without users whose account is
        deleted, because their rows are removed within seconds.
        """
        rows: QuerySet[User] = super().get_queryset(request).filter(account__deleted_at=None)
        return rows.select_related("account", "role").annotate(unconfirmed=_UNCONFIRMED)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[User], search_term: str
    ) -> tuple[QuerySet[User], bool]:
        """Users by e-mail address or username, in any usual spelling."""
        term = search_term.strip()
        if not term:
            return queryset, False
        by_name = matching(User.objects.all(), term, "account__").values("pk")
        return queryset.filter(Q(email__icontains=term) | Q(pk__in=by_name)), False

    def name_of(self, row: User) -> str:
        """Username, e-mail address and, before approval, the reason for joining."""
        reason = f": {row.sign_up_reason}" if row.sign_up_reason and not row.approved else ""
        return f"@{row.account.username} ({row.email}){reason}"

    def outranks(self, by: Staff, row: User) -> bool:
        return outranks_user(by, row)
