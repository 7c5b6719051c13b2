"""Who of the staff may look at federation, and the columns that several of its tables have."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from accounts.models.user import Permission
from social.api.staff import ReadOnlyAdmin
from social.api.staff_columns import shortened, shown

URL_LENGTH: Final = 120

TYPE = shown("type", gettext_lazy("Activity"), order="type")
ATTEMPTS = shown("attempts", gettext_lazy("Attempts"), order="attempts", minor=True)
ERROR = shown(
    "last_error",
    gettext_lazy("Last error"),
    lambda row: shortened(row.last_error, 160) if row.last_error else "",
    minor=True,
)
URI = shown("uri", gettext_lazy("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH))
MADE = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


class FederationAdmin(ReadOnlyAdmin):
    """A table that only staff who manage federation may see."""

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Whether the role may act on federation."""
        user: Any = request.user
        return bool(user.role.can(Permission.MANAGE_FEDERATION))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Activities hold posts that are not for everybody: only who manages federation sees them."""
        return self.has_manage_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As for each row."""
        return self.has_manage_permission(request)
