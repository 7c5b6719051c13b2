"""Staff look at posts that anybody may read, and remove them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models.user import Permission
from social.api.staff import ReadOnlyAdmin
from statuses.models import Status
from statuses.policies.visibility import ANYBODY
from statuses.services.deleting import delete_status


@admin.register(Status)
class StatusAdmin(ReadOnlyAdmin):
    """Public and unlisted posts. Private and direct ones are shown to staff only with a report about them."""

    list_display = ("id", "account", "text", "visibility", "local", "created_at")
    list_filter = ("local", "visibility")
    list_select_related = ("account",)
    search_fields = ("text",)
    ordering = ("-id",)
    actions = ("remove",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Status]:
        """What anybody could read as well."""
        rows: QuerySet[Status] = super().get_queryset(request)
        return rows.filter(visibility__in=ANYBODY, deleted_at=None, reblog_of=None)

    def has_remove_permission(self, request: HttpRequest) -> bool:
        """Whether the role may remove posts."""
        user: Any = request.user
        return bool(user.role.can(Permission.MANAGE_REPORTS))

    @admin.action(description=_("Delete the chosen posts"), permissions=["remove"])
    def remove(self, request: HttpRequest, queryset: QuerySet[Status]) -> None:
        """Delete, as their authors could."""
        self.each(request, queryset, "delete", lambda status: delete_status(status_id=status.id))
