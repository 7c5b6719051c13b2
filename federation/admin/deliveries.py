"""Operators look at deliveries and have them tried again."""

from __future__ import annotations

from typing import cast

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import User
from accounts.policies.staff import staff_of
from federation.admin.bases import ATTEMPTS, ERROR, MADE, FederationAdmin
from federation.models import Delivery
from federation.outbound.queueing import retry
from social.api.staff_columns import ConditionFilter, lines, mark, shortened, shown


class DeliveryStateFilter(ConditionFilter):
    """How far it is."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("On its way"), Q(dead_at=None, attempts=0)),
        "failing": (gettext_lazy("Failing"), Q(dead_at=None, attempts__gt=0)),
        "given_up": (gettext_lazy("Given up"), Q(dead_at__isnull=False)),
    }


def _delivery_state(delivery: Delivery) -> SafeString:
    if delivery.dead_at is not None:
        return mark(_("Given up"), "bad")
    return mark(_("Failing"), "waiting") if delivery.attempts else mark(_("On its way"), "good")


DELIVERED = shown("activity", gettext_lazy("Activity"), lambda delivery: delivery.activity.type, order="activity__type")
RECEIVER = shown("host", gettext_lazy("Server"), lambda delivery: shortened(delivery.host, 60), order="host")
ABOUT = shown("key", gettext_lazy("About"), lambda delivery: shortened(delivery.key, 60), order="key", minor=True)
STATE = shown("state", gettext_lazy("State"), _delivery_state)
DUE = shown("due_at", gettext_lazy("Due"), order="due_at", minor=True)


@admin.register(Delivery)
class DeliveryAdmin(FederationAdmin):
    """What is on its way, and what was given up."""

    list_display = (DELIVERED, RECEIVER, ABOUT, STATE, ATTEMPTS, DUE, ERROR)
    list_filter = (DeliveryStateFilter,)
    list_select_related = ("activity",)
    search_fields = ("host", "key", "activity__uri")
    search_help_text = gettext_lazy("Part of a server's name, of what it is about (status:12), or of an ActivityPub id")
    ordering = ("-id",)
    actions = ("retry_now",)
    fieldsets = (
        lines(
            None,
            DELIVERED,
            shown("uri", gettext_lazy("ActivityPub id"), lambda delivery: delivery.activity.uri),
            shown("inbox_url", gettext_lazy("Inbox")),
            ABOUT,
        ),
        lines(
            gettext_lazy("How it stands"),
            STATE,
            ATTEMPTS,
            shown("last_error", gettext_lazy("Last error")),
            MADE,
            DUE,
            shown("claimed_until", gettext_lazy("In a process's hands until")),
            shown("dead_at", gettext_lazy("Given up since")),
        ),
    )

    @admin.action(description=gettext_lazy("Try the chosen rows again"), permissions=["manage"])
    def retry_now(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Give them a fresh set of attempts, now; their hosts are not left alone any longer."""
        count = retry(by=staff_of(cast("User", request.user)), ids=list(queryset.values_list("id", flat=True)))
        text = ngettext("%(count)d row will be tried again.", "%(count)d rows will be tried again.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)
