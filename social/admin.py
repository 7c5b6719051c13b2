"""Knows how operators look at the outbox and deal with its dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from social.kernel import outbox
from social.kernel.errors import Conflict
from social.kernel.outbox import OutboxRow

if TYPE_CHECKING:
    Base = admin.ModelAdmin[OutboxRow]
else:  # Django's class takes no type argument when it runs
    Base = admin.ModelAdmin


class DeadFilter(admin.SimpleListFilter):
    """Dead, failing or all."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("dead", _("Dead")), ("failing", _("Failing")), ("waiting", _("Waiting"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> QuerySet[OutboxRow]:
        if self.value() == "dead":
            return queryset.filter(dead_at__isnull=False)
        if self.value() == "failing":
            return queryset.filter(dead_at__isnull=True, attempts__gt=0)
        if self.value() == "waiting":
            return queryset.filter(dead_at__isnull=True, attempts=0)
        return queryset


@admin.register(OutboxRow)
class OutboxRowAdmin(Base):
    """Read-only; the two actions call the kernel and stand in the log of the admin."""

    list_display = ("id", "queue", "key", "event", "subscriber", "attempts", "due_at", "dead_at")
    list_filter = (DeadFilter, "queue")
    search_fields = ("key", "event", "subscriber")
    ordering = ("id",)
    show_full_result_count = False
    actions = ("retry", "discard")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: OutboxRow | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: OutboxRow | None = None) -> bool:
        return False

    def has_repair_permission(self, request: HttpRequest) -> bool:
        """Who may retry and discard: whoever could change rows, were they not read-only."""
        return request.user.has_perm("social.change_outboxrow")

    @admin.action(description=_("Try the chosen rows again"), permissions=["repair"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Give them a fresh set of attempts, now."""
        rows = list(queryset)
        count = outbox.retry([row.pk for row in rows])
        for row in rows:
            self.log_change(request, row, "retry")
        text = ngettext("%(count)d row will be tried again.", "%(count)d rows will be tried again.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    @admin.action(description=_("Drop the chosen rows: their events will not be heard"), permissions=["repair"])
    def discard(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Drop them, except those a process has in its hands."""
        dropped = held = 0
        for row in queryset:
            try:
                if outbox.discard(row.pk):
                    self.log_change(request, row, "discard")
                    dropped += 1
            except Conflict:
                held += 1
        text = ngettext("%(count)d row dropped.", "%(count)d rows dropped.", dropped)
        self.message_user(request, text % {"count": dropped}, messages.SUCCESS)
        if held:
            text = ngettext("%(count)d row is being run just now.", "%(count)d rows are being run just now.", held)
            self.message_user(request, text % {"count": held}, messages.WARNING)
