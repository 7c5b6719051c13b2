"""Admin tables of received and sent activities, and of deliveries, which staff can retry."""

from typing import Any, ClassVar, Final

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.admin.accounts import find_addressed
from accounts.admin.acting import acting
from accounts.admin.permitted import PermittedAdmin
from accounts.models import Account
from accounts.models.user import Permission
from federation.models import Delivery, InboundActivity, OutboundActivity
from federation.outbound.queueing import retry
from social.api.staff import newest
from social.api.staff_columns import CREATION, States, address, lines, shortened, shown

URL_LENGTH: Final = 120

# The column cannot be sorted, because no index covers the type, and these tables grow with every post. The admin has a
# filter by type instead.
TYPE = shown("type", _("Activity"))
ATTEMPTS = shown("attempts", _("Attempts"), minor=True)
DELIVERY_ATTEMPTS = shown("attempts", _("Attempts"), order="attempts", minor=True)
ERROR = shown(
    "last_error", _("Last error"), lambda row: shortened(row.last_error, 160) if row.last_error else "", minor=True
)
URI = shown("uri", _("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH))


class FederationAdmin(PermittedAdmin):
    """A table that only staff who manage federation may see, because activities contain private posts."""

    permission = Permission.MANAGE_FEDERATION


class ActivityAdmin(FederationAdmin):
    """Table of activities; `sender` names the column of the sender. A search covers only the newest activities."""

    sender: ClassVar[str]
    search_fields = ("uri",)
    search_help_text = _(
        "The address of a sender, or part of an ActivityPub id; only the newest 10,000 activities are searched"
    )

    def find_rows(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        # A subquery, because PostgreSQL hashes its result; with an array it would compare each row with every element.
        senders = Account.objects.filter(id__one_of=find_addressed(term)).values("id")
        return newest(rows).filter(Q(uri__contains=term) | Q((f"{self.sender}__in", senders)))


_INBOUND_STATES = States(
    waiting=(_("Waiting"), "waiting", Q(processed_at=None)), done=(_("Done"), "good", Q(processed_at__isnull=False))
)
INBOUND_STATE = _INBOUND_STATES.column()
SENDER = shown("account", _("Sender"), lambda activity: address(f"@{activity.account.acct}"))
ACTOR = shown("actor", _("Sender"), lambda activity: shortened(f"@{activity.actor.acct}", 80))
RECEIVED_URI = shown("uri", _("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH), minor=True)
RECEIVED = shown("received_at", _("Received"), order="id", minor=True)
OUTCOME = shown("outcome", _("Outcome"), lambda row: shortened(row.outcome, 160) if row.outcome else "", minor=True)


@admin.register(OutboundActivity)
class OutboundActivityAdmin(ActivityAdmin):
    """Activities that this server sends. The bodies are not shown, because they may contain private posts."""

    sender = "account"
    list_display = (TYPE, SENDER, URI, CREATION)
    list_filter = ("type",)
    list_select_related = ("account",)
    fieldsets = (lines(None, TYPE, SENDER, shown("uri", _("ActivityPub id")), CREATION),)


@admin.register(InboundActivity)
class InboundActivityAdmin(ActivityAdmin):
    """Received activities and their outcomes. The bodies are not shown, because they may contain private posts."""

    sender = "actor"
    list_display = (TYPE, ACTOR, RECEIVED_URI, INBOUND_STATE, ATTEMPTS, OUTCOME, RECEIVED)
    list_filter = (_INBOUND_STATES.filter(), "type")
    list_select_related = ("actor",)
    fieldsets = (
        lines(
            None,
            TYPE,
            ACTOR,
            shown("uri", _("ActivityPub id")),
            INBOUND_STATE,
            ATTEMPTS,
            shown("outcome", _("Outcome")),
            RECEIVED,
            shown("processed_at", _("Done at")),
        ),
    )


_DELIVERY_STATES = States(
    waiting=(_("Waiting"), "good", Q(dead_at=None, attempts=0)),
    failing=(_("Failing"), "waiting", Q(dead_at=None, attempts__gt=0)),
    given_up=(_("Given up"), "bad", Q(dead_at__isnull=False)),
)
DELIVERED = shown("activity", _("Activity"), lambda delivery: delivery.activity.type)
RECEIVER = shown("host", _("Server"), lambda delivery: shortened(delivery.host, 60), order="host")
ABOUT = shown("key", _("About"), lambda delivery: shortened(delivery.key, 60), order="key", minor=True)
DELIVERY_STATE = _DELIVERY_STATES.column()
DUE_AT = shown("due_at", _("Next attempt"), order="due_at", minor=True)


@admin.register(Delivery)
class DeliveryAdmin(FederationAdmin):
    """Deliveries that are waiting, failing or given up."""

    list_display = (DELIVERED, RECEIVER, ABOUT, DELIVERY_STATE, DELIVERY_ATTEMPTS, DUE_AT, ERROR)
    list_filter = (_DELIVERY_STATES.filter(),)
    list_select_related = ("activity",)
    search_fields = ("host",)
    search_help_text = _(
        "Part of a server's name. The newest 10,000 deliveries are also found by part of their key (status:12) "
        "or of their ActivityPub id"
    )
    actions = ("retry_now",)
    fieldsets = (
        lines(
            None,
            DELIVERED,
            shown("uri", _("ActivityPub id"), lambda delivery: delivery.activity.uri),
            shown("inbox_url", _("Inbox")),
            ABOUT,
        ),
        lines(
            _("State"),
            DELIVERY_STATE,
            ATTEMPTS,
            shown("last_error", _("Last error")),
            CREATION,
            DUE_AT,
            shown("claimed_until", _("Being processed until")),
            shown("dead_at", _("Given up since")),
        ),
    )

    def find_rows(self, rows: QuerySet[Delivery], term: str) -> QuerySet[Delivery]:
        """Find deliveries by a part of the server's name; find recent deliveries also by a part of the key or activity id."""
        about = newest(Delivery.objects.filter(Q(key__contains=term) | Q(activity__uri__contains=term)))
        return rows.filter(Q(host__contains=term.lower()) | Q(id__in=about.values("id")))

    @admin.action(description=_("Retry the selected rows"), permissions=["manage"])
    def retry_now(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Retry the deliveries now, count their attempts from zero again, and end the back-off of their hosts."""
        count = retry(by=acting(request), ids=list(queryset.values_list("id", flat=True)))
        text = ngettext("%(count)d row will be retried.", "%(count)d rows will be retried.", count)
        self.message_user(request, text % {"count": count}, messages.SUCCESS)
