"""Tables of federation for operators: what comes in and goes out, the servers, and deliveries to be tried again."""

from __future__ import annotations

from typing import Any, Final, cast

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.acting import row_action
from accounts.models import Domain, User
from accounts.models.user import Permission
from accounts.policies.staff import staff_of
from accounts.queries.servers import list_troubled
from federation.models import Delivery, InboundActivity, OutboundActivity
from federation.outbound.queueing import drop, retry, retry_host
from federation.remote.servers import begin_purge, load_servers
from moderation.queries.blocks import load_rules
from social.api.staff import ActionVariant, ReadOnlyAdmin
from social.api.staff_columns import ConditionFilter, address, lines, mark, shortened, shown
from social.api.staff_filters import DropdownFilter
from social.kernel import clock
from social.kernel.runner import Host

URL_LENGTH: Final = 120
SOFTWARE_LIMIT: Final = 50
UNKNOWN: Final = "-"

TYPE = shown("type", gettext_lazy("Activity"), order="type")
ATTEMPTS = shown("attempts", gettext_lazy("Attempts"), order="attempts", minor=True)
ERROR = shown(
    "last_error",
    gettext_lazy("Last error"),
    lambda row: shortened(row.last_error, 160) if row.last_error else "",
    minor=True,
)
URI = shown("uri", gettext_lazy("ActivityPub id"), lambda activity: shortened(activity.uri, URL_LENGTH))
CREATED = shown("created_at", gettext_lazy("Since"), order="id", minor=True)


class FederationAdmin(ReadOnlyAdmin):
    """A table that only staff who manage federation may see."""

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may act on federation."""
        user: Any = request.user
        return bool(user.role.can(Permission.MANAGE_FEDERATION))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Activities hold posts that are not for everybody: only who manages federation sees them."""
        return self.has_manage_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Grant the list where each row is granted."""
        return self.has_manage_permission(request)


class InboundStateFilter(ConditionFilter):
    """Filter of activities by whether they have been acted upon."""

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
class OutboundActivityAdmin(FederationAdmin):
    """Activities of this server. Their bodies are not shown: they may hold private posts."""

    list_display = (TYPE, SENDER, URI, CREATED)
    list_filter = ("type",)
    list_select_related = ("account",)
    search_fields = ("uri", "account__username")
    ordering = ("-id",)
    fieldsets = (lines(None, TYPE, SENDER, shown("uri", gettext_lazy("ActivityPub id")), CREATED),)


@admin.register(InboundActivity)
class InboundActivityAdmin(FederationAdmin):
    """Received activities, and what became of them. The bodies are not shown: they may hold private posts."""

    list_display = (TYPE, ACTOR, RECEIVED_URI, INBOUND_STATE, ATTEMPTS, OUTCOME, RECEIVED)
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


DELIVERED = shown("activity", gettext_lazy("Activity"), lambda delivery: delivery.activity.type, order="activity__type")
RECEIVER = shown("host", gettext_lazy("Server"), lambda delivery: shortened(delivery.host, 60), order="host")
ABOUT = shown("key", gettext_lazy("About"), lambda delivery: shortened(delivery.key, 60), order="key", minor=True)
DELIVERY_STATE = shown("state", gettext_lazy("State"), _delivery_state)
DUE_AT = shown("due_at", gettext_lazy("Due"), order="due_at", minor=True)


@admin.register(Delivery)
class DeliveryAdmin(FederationAdmin):
    """Deliveries on their way, and those that were given up."""

    list_display = (DELIVERED, RECEIVER, ABOUT, DELIVERY_STATE, ATTEMPTS, DUE_AT, ERROR)
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
            DELIVERY_STATE,
            ATTEMPTS,
            shown("last_error", gettext_lazy("Last error")),
            CREATED,
            DUE_AT,
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


def _host_state(host: Host) -> SafeString:
    return mark(_("Left alone"), "bad") if host.retry_at > clock.now() else mark(_("On trial"), "waiting")


QUEUE = shown("queue", gettext_lazy("Queue"), order="queue", minor=True)
HOST_STATE = shown("state", gettext_lazy("State"), _host_state)
NAME = shown("name", gettext_lazy("Server"), lambda host: shortened(host.name, 80), order="name")
FAILURES = shown("failures", gettext_lazy("Failures"), order="failures", minor=True)
FAILING_SINCE = shown("failing_since", gettext_lazy("Failing since"), order="failing_since", minor=True)
RETRY = shown("retry_at", gettext_lazy("Next try"), order="retry_at")


@admin.register(Host)
class HostAdmin(FederationAdmin):
    """Servers that do not answer as they should."""

    list_display = (NAME, QUEUE, HOST_STATE, FAILURES, FAILING_SINCE, RETRY, ERROR)
    search_fields = ("name",)
    ordering = ("-failing_since",)
    fieldsets = (
        lines(
            None,
            NAME,
            QUEUE,
            HOST_STATE,
            FAILURES,
            FAILING_SINCE,
            RETRY,
            shown("last_error", gettext_lazy("Last error")),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Host]:
        """Servers that fail and that somebody here has to do with."""
        return list_troubled()


_STATES: Final = {
    "reachable": (gettext_lazy("Reachable"), "good"),
    "backing off": (gettext_lazy("Left alone for a while"), "waiting"),
    "unavailable": (gettext_lazy("Unavailable for a week"), "bad"),
}


def _figure(name: str, label: Any, *, minor: bool = False) -> Any:
    return shown(name, label, lambda server: server.figures[name], minor=minor)


SERVER = shown("name", gettext_lazy("Server"), lambda server: shortened(server.name, 80), order="name")
SERVER_STATE = shown("state", gettext_lazy("State"), lambda server: mark(*_STATES[server.figures["state"]]))
RULE = shown(
    "rule", gettext_lazy("Rule"), lambda server: server.rule.get_severity_display() if server.rule is not None else ""
)
ACCOUNTS = _figure("accounts", gettext_lazy("Accounts"))
POSTS = _figure("posts", gettext_lazy("Posts"), minor=True)
FOLLOWED = _figure("followed", gettext_lazy("Followed from here"), minor=True)
FOLLOWERS = _figure("followers", gettext_lazy("Followers here"), minor=True)
SOFTWARE = shown(
    "software",
    gettext_lazy("Software"),
    lambda server: address(f"{server.software} {server.version}".strip()) if server.software else "",
    order="software",
    minor=True,
)
REACHED = shown("reached_at", gettext_lazy("Last reached"), order="reached_at", minor=True)
WAITING = _figure("waiting", gettext_lazy("On their way"))
GIVEN_UP = _figure("given_up", gettext_lazy("Given up"), minor=True)


class SoftwareFilter(DropdownFilter):
    """Filter by what servers run, of which those are named that most run: the names are theirs, and may be any number."""

    title = gettext_lazy("software")
    parameter_name = "software"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The names, and how many servers each."""
        counts = Domain.objects.values_list("software").annotate(number=Count("id")).order_by("-number", "software")
        return [(name or UNKNOWN, f"{name or _('unknown')} ({number})") for name, number in counts[:SOFTWARE_LIMIT]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The servers that run it."""
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(software="" if chosen == UNKNOWN else chosen)


@admin.register(Domain)
class ServerAdmin(FederationAdmin):
    """Servers that are known here: how many people of them, what is on its way to them, and how they answer."""

    list_display = (
        SERVER,
        SERVER_STATE,
        RULE,
        SOFTWARE,
        ACCOUNTS,
        POSTS,
        FOLLOWED,
        FOLLOWERS,
        WAITING,
        GIVEN_UP,
        REACHED,
    )
    list_filter = (SoftwareFilter,)
    list_filter_submit = True
    search_fields = ("name",)
    ordering = ("name",)
    actions_detail = ("ask_again", "drop_deliveries", "purge")
    fieldsets = (
        lines(
            None,
            SERVER,
            shown("first_seen_at", gettext_lazy("First seen")),
            SOFTWARE,
            RULE,
            ACCOUNTS,
            POSTS,
            FOLLOWED,
            FOLLOWERS,
        ),
        lines(
            gettext_lazy("How it stands"),
            SERVER_STATE,
            REACHED,
            _figure("failures", gettext_lazy("Failures")),
            _figure("failing_since", gettext_lazy("Failing since")),
            _figure("next_try", gettext_lazy("Next try")),
            _figure("last_error", gettext_lazy("Last error")),
        ),
        lines(
            gettext_lazy("Deliveries"),
            WAITING,
            _figure("failing", gettext_lazy("Failing")),
            _figure("oldest", gettext_lazy("Oldest since")),
            GIVEN_UP,
        ),
    )

    def has_purge_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Tell whether the role may remove what people have written."""
        user: Any = request.user
        return self.has_manage_permission(request) and bool(user.role.can(Permission.DELETE_USER_DATA))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, under words of people."""
        return super().changelist_view(request, {**(extra_context or {}), "title": _("Known servers")})

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list; each server of the page has its figures."""
        changes = super().get_changelist_instance(request)
        _load_figures(list(changes.result_list))
        return changes

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The server with its figures, or None."""
        server = super().get_object(request, object_id, from_field)
        if server is not None:
            _load_figures([server])
        return server

    ask_again = row_action(
        gettext_lazy("Ask again now"),
        lambda by, server: retry_host(by=by, name=server.name),
        icon="refresh",
        verb="retry",
        done=gettext_lazy("It is asked again, and everything for it is sent."),
        question=gettext_lazy("Ask this server again now, and send it also what was given up?"),
    )

    drop_deliveries = row_action(
        gettext_lazy("Drop deliveries"),
        lambda by, server: drop(by=by, rows=Delivery.objects.filter(host=server.name)),
        icon="delete_sweep",
        verb="discard",
        done=gettext_lazy("What was on its way to the server is dropped."),
        question=gettext_lazy("Drop everything that is on its way to this server? It will never arrive."),
    )

    purge = row_action(
        gettext_lazy("Remove everything"),
        lambda by, server: begin_purge(by=by, domain=server.name),
        icon="delete_forever",
        permission="purge",
        variant=ActionVariant.DANGER,
        verb="purge",
        done=gettext_lazy("Its accounts are being removed in the background."),
        question=gettext_lazy(
            "Delete all accounts of this server with everything they have written? They come back when they are met again: "
            "block the server to keep them away."
        ),
    )


def _load_figures(servers: list[Any]) -> None:
    """Give each server its figures and its rule, in two queries."""
    names = [server.name for server in servers]
    found = {figures["domain"]: figures for figures in load_servers(names, limit=len(names))} if names else {}
    rules = load_rules(names)
    for server in servers:
        server.figures, server.rule = found[server.name], rules.get(server.name)
