"""How staff see roles."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Role
from accounts.models.user import Permission
from social.api.staff import ReadOnlyAdmin
from social.api.staff_columns import lines, shown

WORDS = {
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
    """The role's name; that of people without one is words of ours."""
    return role.name or _("Everyone")


def _permissions(role: Role) -> list[str]:
    return [str(WORDS[permission]) for permission in Permission if role.permissions & permission]


NAME = shown("name", gettext_lazy("Name"), role_name, order="name")
PERMISSIONS = shown("permissions", gettext_lazy("Permissions"), _permissions)
RANK = shown("position", gettext_lazy("Rank"), order="position", minor=True)
SHOWN = shown("highlighted", gettext_lazy("Shown on the profile"), minor=True)


@admin.register(Role)
class RoleAdmin(ReadOnlyAdmin):
    """Roles; they are given by `manage.py modify_account`."""

    list_display = (NAME, RANK, PERMISSIONS, SHOWN)
    ordering = ("-position",)
    fieldsets = (lines(None, NAME, RANK, PERMISSIONS, SHOWN),)
