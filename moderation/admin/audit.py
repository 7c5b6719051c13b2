"""The audit log, for staff."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from accounts.admin.permitted import PermittedAdmin
from accounts.models import AuditEntry
from accounts.models.user import Permission
from social.api.staff_columns import ConditionFilter, lines, shown


class WhoFilter(ConditionFilter):
    """Filter by a member of staff, or the operator."""

    title = gettext_lazy("by")
    parameter_name = "by"
    conditions = {
        "staff": (gettext_lazy("Staff"), Q(account_id__isnull=False)),
        "operator": (gettext_lazy("The operator"), Q(account_id=None)),
    }


def _details(entry: AuditEntry) -> Any:
    if not entry.details:
        return None
    text = json.dumps(entry.details, indent=2, ensure_ascii=False, sort_keys=True)
    return format_html('<pre dir="ltr">{}</pre>', text)


ENTRY_AUTHOR = shown("account_name", gettext_lazy("By"))
ENTRY_ACTION = shown("action", gettext_lazy("Action"))
ENTRY_TARGET_TYPE = shown("target_type", gettext_lazy("Kind"), minor=True)
ENTRY_TARGET = shown("target_name", gettext_lazy("What"), lambda entry: format_html("<bdi>{}</bdi>", entry.target_name))
ENTRY_TIME = shown("created_at", gettext_lazy("When"), order="id")


@admin.register(AuditEntry)
class AuditAdmin(PermittedAdmin):
    """The audit log. Nobody changes it."""

    permission = Permission.VIEW_AUDIT_LOG
    list_display = (ENTRY_TIME, ENTRY_AUTHOR, ENTRY_ACTION, ENTRY_TARGET, ENTRY_TARGET_TYPE)
    list_filter = (WhoFilter,)
    search_fields = ("target_name",)
    search_help_text = gettext_lazy("A name of whom it was done to, or of who has done it: @anna")
    ordering = ("-id",)
    fieldsets = (
        lines(
            None,
            ENTRY_TIME,
            ENTRY_AUTHOR,
            ENTRY_ACTION,
            ENTRY_TARGET,
            ENTRY_TARGET_TYPE,
            shown("target_id", gettext_lazy("Number")),
            shown("details", gettext_lazy("Before and after"), _details),
        ),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        """Entries by whole names: parts of words would be looked for in the whole table."""
        term = search_term.strip()
        if not term:
            return queryset, False
        return queryset.filter(Q(target_name__iexact=term) | Q(account_name__iexact=term)), False
