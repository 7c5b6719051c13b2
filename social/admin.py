"""Admin pages of the outbox, where operators retry and discard dead letters."""

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from social.api.staff import ReadOnlyAdmin
from social.api.staff_acts import BoundAct
from social.api.staff_columns import States, lines, shortened, shown
from social.kernel import outbox
from social.kernel.errors import Conflict
from social.kernel.outbox import OutboxRow

_STATES = States(
    dead=(_("Dead"), "bad", Q(dead_at__isnull=False)),
    failing=(_("Failing"), "waiting", Q(dead_at=None, attempts__gt=0)),
    waiting=(_("Waiting"), "good", Q(dead_at=None, attempts=0)),
)
EVENT = shown("event", _("Event"), lambda row: shortened(row.event, 80), order="event")
SUBSCRIBER = shown("subscriber", _("Subscriber"), lambda row: shortened(row.subscriber, 120))
QUEUE = shown("queue", _("Queue"), order="queue")
KEY = shown("key", _("About"), lambda row: shortened(row.key, 80), order="key", minor=True)
STATE = _STATES.column()
ATTEMPTS = shown("attempts", _("Attempts"), order="attempts", minor=True)
DUE_AT = shown("due_at", _("Next attempt"), order="due_at", minor=True)


@admin.register(OutboxRow)
class OutboxRowAdmin(ReadOnlyAdmin):
    """Read-only admin pages of outbox rows. The two actions call the kernel, which writes the audit log."""

    list_display = (EVENT, SUBSCRIBER, KEY, STATE, ATTEMPTS, DUE_AT)
    list_filter = (_STATES.filter(), "queue")
    search_fields = ("key", "event", "subscriber")
    search_help_text = _("Part of the name of an event, of a subscriber, or of a key (status:12)")
    ordering = ("id",)
    actions = ("retry", "discard")
    # Dead letters are waiting for an operator's decision.
    waits = Q(dead_at__isnull=False)
    fieldsets = (
        lines(None, EVENT, SUBSCRIBER, QUEUE, KEY, shown("payload", _("Contents"))),
        lines(
            _("State"),
            STATE,
            ATTEMPTS,
            shown("last_error", _("Last error")),
            shown("created_at", _("Since")),
            DUE_AT,
            shown("claimed_until", _("Being processed until")),
            shown("dead_at", _("Dead since")),
        ),
    )

    def name_of(self, row: OutboxRow) -> str:
        return row.name

    def has_repair_permission(self, request: HttpRequest) -> bool:
        """Tell whether the user may retry and discard rows, which requires the model's permission to change rows."""
        return request.user.has_perm("social.change_outboxrow")

    @admin.action(description=_("Retry the selected rows"), permissions=["repair"])
    def retry(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> None:
        """Retry the chosen rows now, with the full number of attempts."""
        count = outbox.retry([row.pk for row in queryset], by=request.user)
        text = ngettext("%(count)d row will be retried.", "%(count)d rows will be retried.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)

    @admin.action(description=_("Drop the selected rows without doing their work"), permissions=["repair"])
    def discard(self, request: HttpRequest, queryset: QuerySet[OutboxRow]) -> TemplateResponse | None:
        """Discard the chosen rows, except those that a process is working on."""
        done = ngettext_lazy("%(count)d row dropped.", "%(count)d rows dropped.", "count")
        question = _("Drop these rows? The work they stand for will never be done.")
        return self.each(request, queryset, BoundAct(partial(_discard, by=request.user), "discard", done, question))


def _discard(row: OutboxRow, *, by: Any) -> None:
    try:
        outbox.discard(row.pk, by=by)
    except Conflict:
        raise Conflict(gettext("A process is working on this row right now.")) from None
