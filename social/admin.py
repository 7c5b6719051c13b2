"""Admin pages of the outbox, where operators retry and discard dead letters."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from social.api.staff import ReadOnlyAdmin
from social.api.staff_columns import condition_filter, lines, mark, shortened, shown
from social.kernel import outbox
from social.kernel.errors import Conflict
from social.kernel.outbox import OutboxRow

StateFilter = condition_filter(
    "state",
    _("state"),
    dead=(_("Dead"), Q(dead_at__isnull=False)),
    failing=(_("Failing"), Q(dead_at=None, attempts__gt=0)),
    waiting=(_("Waiting"), Q(dead_at=None, attempts=0)),
)


def _state(row: OutboxRow) -> SafeString:
    if row.dead_at is not None:
        return mark(gettext("Dead"), "bad")
    return mark(gettext("Failing"), "waiting") if row.attempts else mark(gettext("Waiting"), "good")


EVENT = shown("event", _("Event"), lambda row: shortened(row.event, 80), order="event")
SUBSCRIBER = shown("subscriber", _("Subscriber"), lambda row: shortened(row.subscriber, 120))
QUEUE = shown("queue", _("Queue"), order="queue")
KEY = shown("key", _("About"), lambda row: shortened(row.key, 80), order="key", minor=True)
STATE = shown("state", _("State"), _state)
ATTEMPTS = shown("attempts", _("Attempts"), order="attempts", minor=True)
DUE_AT = shown("due_at", _("Due"), order="due_at", minor=True)


@admin.register(OutboxRow)
class OutboxRowAdmin(ReadOnlyAdmin):
    """Admin pages of outbox rows: read-only. The two actions call the kernel, which writes the audit log."""

    list_display = (EVENT, SUBSCRIBER, KEY, STATE, ATTEMPTS, DUE_AT)
    list_filter = (StateFilter, "queue")
    search_fields = ("key", "event", "subscriber")
    search_help_text = _("Part of an event, a subscriber or a key (status:12)")
    ordering = ("id",)
    actions = ("retry", "discard")
    fieldsets = (
        lines(None, EVENT, SUBSCRIBER, QUEUE, KEY, shown("payload", _("Contents"))),
        lines(
            _("How it stands"),
            STATE,
            ATTEMPTS,
            shown("last_error", _("Last error")),
            shown("created_at", _("Since")),
            DUE_AT,
            shown("claimed_until", _("In a process's hands until")),
            shown("dead_at", _("Dead since")),
        ),
    )

    def waiting(self) -> QuerySet[OutboxRow]:
        """The dead letters, which wait for an operator."""
        return OutboxRow.objects.filter(dead_at__isnull=False)

    def name_of(self, row: OutboxRow) -> str:
        """The row's name: its event, subscriber and key."""
        return row.name

    def has_repair_permission(self, request: HttpRequest) -> bool:
        """Tell whether the user may retry and discard rows, which takes the model's permission to change rows."""
        return request.user.has_perm("social.change_outboxrow")

    @admin.action(description=_("Try the chosen rows again"), permissions=["repair"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Retry the chosen rows now, with the full number of attempts."""
        count = outbox.retry([row.pk for row in queryset], by=request.user)
        text = ngettext("%(count)d row will be tried again.", "%(count)d rows will be tried again.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    @admin.action(description=_("Drop the chosen rows without running their reactions"), permissions=["repair"])
    def discard(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> TemplateResponse | None:
        """Discard the chosen rows, except those that a process is running."""
        return self.each(
            request,
            queryset,
            partial(_discard, by=request.user),
            verb="discard",
            done=ngettext_lazy("%(count)d row dropped.", "%(count)d rows dropped.", "count"),
            question=_("Drop these rows? What they should have brought about will not happen."),
        )


def _discard(row: OutboxRow, *, by: Any) -> None:
    try:
        outbox.discard(row.pk, by=by)
    except Conflict:
        raise Conflict(gettext("A process is running it just now.")) from None
