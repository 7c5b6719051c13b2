"""Admin tables of received and sent activities, and of deliveries, which staff can retry."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.accounts import find_addressed
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models.user import Permission
from federation.models import Delivery, InboundActivity, OutboundActivity
from federation.outbound.queueing import retry
from social.api.staff import newest
from social.api.staff_columns import ConditionFilter, address, lines, mark, shortened, shown

URL_LENGTH: Final = 120

# Not sortable: no index covers the type, and these tables grow with every post. The admin has a filter by type instead.
TYPE = shown("type", gettext_lazy("Activity"))
ATTEMPTS = shown("attempts", gettext_lazy("Attempts"), minor=True)
DELIVERY_ATTEMPTS = shown("attempts", gettext_lazy("Attempts"), order="attempts", minor=True)
ERROR = shown(
    "last_error",
    gettext_lazy("Last error"),
    lambda row: shortened(row.last_error, 160) if row.last_error else "",
    minor=True,
)
URI = shown("uri", gettext_lazy("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH))
CREATED = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


class FederationAdmin(PermittedAdmin):
    """A table that only staff who manage federation may see, because activities hold private posts."""

    permission = Permission.MANAGE_FEDERATION


class ActivityAdmin(FederationAdmin):
    """Table of activities. A search covers the newest activities, by sender (the column that `sender` names) or by a part of
    the id.
    """

    sender: ClassVar[str]
    search_fields = ("uri",)
    search_help_text = gettext_lazy(
        "A sender's address, or a part of an ActivityPub id, of one of the newest 10,000 activities"
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the matching activities among the newest ones."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = Q(uri__contains=term) | Q((f"{self.sender}__one_of", find_addressed(term)))
        return newest(queryset).filter(found), False


class InboundStateFilter(ConditionFilter):
    """Filter of received activities: processed or waiting."""

    title = gettext_lazy("state")
    parameter_name = "state"
    conditions = {
        "waiting": (gettext_lazy("Waiting"), Q(processed_at=None)),
        "done": (gettext_lazy("Done"), Q(processed_at__isnull=False)),
    }


def _inbound_state(activity: InboundActivity) -> SafeString:
    return mark(_("Done"), "good") if activity.processed_at is not None else mark(_("Waiting"), "waiting")


INBOUND_STATE = shown("state", gettext_lazy("State"), _inbound_state)
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
class OutboundActivityAdmin(ActivityAdmin):
    """Activities that this server sends. The bodies are not shown: they may hold private posts."""

    sender = "account"
    list_display = (TYPE, SENDER, URI, CREATED)
    list_filter = ("type",)
    list_select_related = ("account",)
    ordering = ("-id",)
    fieldsets = (lines(None, TYPE, SENDER, shown("uri", gettext_lazy("ActivityPub id")), CREATED),)


@admin.register(InboundActivity)
class InboundActivityAdmin(ActivityAdmin):
    """Received activities and their outcomes. The bodies are not shown: they may hold private posts."""

    sender = "actor"
    list_display = (TYPE, ACTOR, RECEIVED_URI, INBOUND_STATE, ATTEMPTS, OUTCOME, RECEIVED)
    list_filter = (InboundStateFilter, "type")
    list_select_related = ("actor",)
    ordering = ("-id",)
    fieldsets = (
        lines(
            None,
            TYPE,
            ACTOR,
            shown("uri", gettext_lazy("ActivityPub id")),
            INBOUND_STATE,
            ATTEMPTS,
            shown("outcome", gettext_lazy("Outcome")),
            RECEIVED,
            shown("processed_at", gettext_lazy("Done at")),
        ),
    )


class DeliveryStateFilter(ConditionFilter):
    """Filter by the state of a delivery."""

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


DELIVERED = shown("activity", gettext_lazy("Activity"), lambda delivery: delivery.activity.type)
RECEIVER = shown("host", gettext_lazy("Server"), lambda delivery: shortened(delivery.host, 60), order="host")
ABOUT = shown("key", gettext_lazy("About"), lambda delivery: shortened(delivery.key, 60), order="key", minor=True)
DELIVERY_STATE = shown("state", gettext_lazy("State"), _delivery_state)
DUE_AT = shown("due_at", gettext_lazy("Due"), order="due_at", minor=True)


@admin.register(Delivery)
class DeliveryAdmin(FederationAdmin):
    """Deliveries that are waiting, failing or given up."""

    list_display = (DELIVERED, RECEIVER, ABOUT, DELIVERY_STATE, DELIVERY_ATTEMPTS, DUE_AT, ERROR)
    list_filter = (DeliveryStateFilter,)
    list_select_related = ("activity",)
    search_fields = ("host",)
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
            DELIVERY_STATE,
            ATTEMPTS,
            shown("last_error", gettext_lazy("Last error")),
            CREATED,
            DUE_AT,
            shown("claimed_until", gettext_lazy("In a process's hands until")),
            shown("dead_at", gettext_lazy("Given up since")),
        ),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        """Return the deliveries that contain the term, case-sensitively: a case-insensitive search costs five times as much."""
        term = search_term.strip()
        names = Q(host__contains=term.lower()) | Q(key__contains=term) | Q(activity__uri__contains=term)
        return (queryset.filter(names) if term else queryset), False

    @admin.action(description=gettext_lazy("Try the chosen rows again"), permissions=["manage"])
    def retry_now(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Give the deliveries a fresh set of attempts from now on, and end the back-off of their hosts."""
        count = retry(by=acting(request), ids=list(queryset.values_list("id", flat=True)))
        text = ngettext("%(count)d row will be tried again.", "%(count)d rows will be tried again.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)
