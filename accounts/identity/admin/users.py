"""Admin page of local users and their roles, with the actions that staff may take."""

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.acts import APPROVE, CONFIRM, DISABLE_USERS, ENABLE, REJECT
from accounts.admin.accounts import account_column, matching
from accounts.admin.acting import ActingAdmin
from accounts.identity.queries.sign_up import UNCONFIRMED, list_unapproved
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.policies.audience import is_present
from accounts.policies.staff import Staff, outranks_user
from social.api.staff_columns import PLACEHOLDER, address, condition_filter, lines, mark, shortened, shown
from social.api.staff_filters import dropdown_filter

PERMISSION_NAMES = {
    Permission.ADMINISTRATOR: _("Everything"),
    Permission.VIEW_DEVOPS: _("View the state of the system"),
    Permission.VIEW_AUDIT_LOG: _("View the audit log"),
    Permission.VIEW_DASHBOARD: _("View the dashboard"),
    Permission.MANAGE_REPORTS: _("Reports and posts"),
    Permission.MANAGE_FEDERATION: _("Other servers"),
    Permission.MANAGE_SETTINGS: _("Settings"),
    Permission.MANAGE_BLOCKS: _("Sign-up blocks"),
    Permission.MANAGE_TAXONOMIES: _("Trends and hashtags"),
    Permission.MANAGE_APPEALS: _("Appeals"),
    Permission.MANAGE_USERS: _("Users"),
    Permission.MANAGE_INVITES: _("Invitations"),
    Permission.MANAGE_RULES: _("Rules"),
    Permission.MANAGE_ANNOUNCEMENTS: _("Announcements"),
    Permission.MANAGE_CUSTOM_EMOJIS: _("Custom emoji"),
    Permission.MANAGE_WEBHOOKS: _("Webhooks"),
    Permission.INVITE_USERS: _("Invite people"),
    Permission.MANAGE_ROLES: _("Roles"),
    Permission.MANAGE_USER_ACCESS: _("Users' access"),
    Permission.DELETE_USER_DATA: _("Delete users' data"),
    Permission.VIEW_FEEDS: _("See closed timelines"),
    Permission.INVITE_BYPASS_APPROVAL: _("Invite without approval"),
    Permission.MANAGE_EMAIL_SUBSCRIPTIONS: _("E-mail subscriptions"),
}


def role_name(role: Role) -> str:
    """Return the role's name, or a translated text for the default role, which has no name."""
    return role.name or gettext("Everyone")


StateFilter = condition_filter(
    "state",
    _("state"),
    waiting=(_("Waiting for approval"), Q(approved=False)),
    unconfirmed=(_("Address not confirmed"), Q(unconfirmed=True)),
    disabled=(_("Disabled"), Q(disabled_at__isnull=False)),
    suspended=(_("Suspended"), ~is_present("account")),
)


RoleFilter = dropdown_filter(
    "role",
    _("role"),
    lambda: [(str(role.pk), role_name(role)) for role in Role.objects.order_by("-position")],
    lambda rows, value: rows.filter(role_id=int(value)) if value.removeprefix("-").isdecimal() else rows,
)


def _state(user: Any) -> SafeString:
    """Return the first reason why the account cannot be used, in the order of `queries.tokens.find_sign_in_state`."""
    if user.disabled_at is not None:
        return mark(gettext("Disabled"), "bad")
    if user.account.suspended:
        return mark(gettext("Suspended"), "bad")
    if user.unconfirmed:
        return mark(gettext("Address not confirmed"), "waiting")
    return mark(gettext("Active"), "good") if user.approved else mark(gettext("Waiting for approval"), "waiting")


def _role(user: User) -> str:
    return role_name(user.role) if user.role_id != EVERYONE_ROLE_ID else PLACEHOLDER


REASON = shown("sign_up_reason", _("Why they want to join"), lambda user: shortened(user.sign_up_reason, 400))
ADDRESS = shown("sign_up_ip", _("IP address"), minor=True)
USERNAME = shown("username", _("User"), lambda user: address(f"@{user.account.username}"), order="account__username")
EMAIL = shown("email", _("E-mail address"), order="email", minor=True)
ROLE = shown("role", _("Role"), _role, order="role__position")
STATE = shown("state", _("State"), _state)
JOINED = shown("created_at", _("Joined"), order="id", minor=True)
LAST_SEEN_TIME = shown("active_at", _("Last seen"), order="active_at", minor=True)


@admin.register(User)
class UserAdmin(ActingAdmin):
    """Local users. Staff can act only on users whom they outrank."""

    in_palette = True
    person_column = "account_id"

    list_display = (USERNAME, EMAIL, REASON, ADDRESS, STATE, JOINED)
    list_filter = (StateFilter, RoleFilter)
    list_select_related = ("account", "role")
    search_fields = ("email",)
    search_help_text = _("A username, an e-mail address, or a part of one")
    # The buttons of the other actions are on the page of the account.
    acts = (APPROVE, REJECT, replace(CONFIRM, one=None), DISABLE_USERS, replace(ENABLE, one=None))
    # The password hash and the user's own settings are left out, because staff need not see them.
    fieldsets = (
        lines(
            None,
            account_column("account", _("Account")),
            EMAIL,
            ROLE,
            STATE,
            shown("disabled_at", _("Disabled since")),
            LAST_SEEN_TIME,
        ),
        lines(
            _("Sign-up"),
            JOINED,
            REASON,
            ADDRESS,
            shown("application", _("App"), lambda user: getattr(user.created_by_application, "name", None)),
            shown("locale", _("Language")),
        ),
    )

    def waiting(self) -> QuerySet[User]:
        """Return the users who have confirmed their e-mail address and are waiting for approval."""
        return list_unapproved()

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Return the users of accounts that are not deleted, annotated with `unconfirmed`."""
        rows: QuerySet[User] = super().get_queryset(request).filter(account__deleted_at=None)
        return rows.select_related("account", "role").annotate(unconfirmed=UNCONFIRMED)

    def find_rows(self, rows: QuerySet[User], term: str) -> QuerySet[User]:
        by_name = matching(User.objects.all(), term, "account__").values("pk")
        return rows.filter(Q(email__icontains=term) | Q(pk__in=by_name))

    def name_of(self, row: User) -> str:
        reason = f": {row.sign_up_reason}" if row.sign_up_reason and not row.approved else ""
        return f"@{row.account.username} ({row.email}){reason}"

    def question_line(self, row: User) -> str:
        return f"@{row.account.username} ({row.email})"

    def outranks(self, by: Staff, row: User) -> bool:
        return outranks_user(by, row)
