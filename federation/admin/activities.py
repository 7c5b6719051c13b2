"""Operators look at what was received and at what is sent."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from federation.admin.bases import ATTEMPTS, MADE, TYPE, URI, URL_LENGTH, FederationAdmin
from federation.models import InboundActivity, OutboundActivity
from social.api.staff_columns import ConditionFilter, address, lines, mark, shortened, shown


class InboundStateFilter(ConditionFilter):
    """Whether it has been acted upon."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waiting"), Q(processed_at=None)),
        "done": (gettext_lazy("Done"), Q(processed_at__isnull=False)),
    }


def _inbound_state(activity: InboundActivity) -> SafeString:
    return mark(_("Done"), "good") if activity.processed_at is not None else mark(_("Waiting"), "waiting")


STATE = shown("state", gettext_lazy("State"), _inbound_state)
SENDER = shown("account", gettext_lazy("Sender"), lambda activity: address(f"@{activity.account.acct}"))
ACTOR = shown("actor", gettext_lazy("Sender"), lambda activity: shortened(f"@{activity.actor.acct}", 80))
RECEIVED_URI = shown(
    "uri", gettext_lazy("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH), minor=True
)
RECEIVED = shown("received_at", gettext_lazy("Received"), order="id", minor=True)
OUTCOME = shown(
    "outcome", gettext_lazy("Outcome"), lambda row: shortened(row.outcome, 160) if row.outcome else "", minor=True
)


@admin.register(OutboundActivity)
class OutboundActivityAdmin(FederationAdmin):
    """Activities of this server. Their bodies are not shown: they may hold private posts."""

    list_display = (TYPE, SENDER, URI, MADE)
    list_filter = ("type",)
    list_select_related = ("account",)
    search_fields = ("uri", "account__username")
    ordering = ("-id",)
    fieldsets = (lines(None, TYPE, SENDER, shown("uri", gettext_lazy("ActivityPub id")), MADE),)


@admin.register(InboundActivity)
class InboundActivityAdmin(FederationAdmin):
    """What was received, and what became of it. The bodies are not shown: they may hold private posts."""

    list_display = (TYPE, ACTOR, RECEIVED_URI, STATE, ATTEMPTS, OUTCOME, RECEIVED)
    list_filter = (InboundStateFilter, "type")
    list_select_related = ("actor",)
    search_fields = ("uri", "actor__domain", "actor__username")
    ordering = ("-id",)
    fieldsets = (
        lines(
            None,
            TYPE,
            ACTOR,
            shown("uri", gettext_lazy("ActivityPub id")),
            STATE,
            ATTEMPTS,
            shown("outcome", gettext_lazy("Outcome")),
            RECEIVED,
            shown("processed_at", gettext_lazy("Done at")),
        ),
    )
