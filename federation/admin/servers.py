"""Admin tables of the known servers, and of the hosts that fail."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Domain
from accounts.models.user import Permission
from accounts.queries.servers import list_failing_hosts, load_names
from federation.admin.activities import ERROR, FederationAdmin
from federation.outbound.queueing import deliveries_to, drop, retry_host
from federation.remote.servers import begin_purge, load_servers
from moderation.queries.blocks import load_rules
from social.api.staff_acts import Act, ActionVariant, Words
from social.api.staff_columns import address, lines, mark, shortened, shown, table
from social.api.staff_filters import dropdown_filter
from social.kernel import clock
from social.kernel.reasons import reason_of
from social.kernel.refusals import load_refusals
from social.kernel.runner import Host

SOFTWARE_LIMIT: Final = 50
UNKNOWN: Final = "-"


def _host_state(host: Host) -> SafeString:
    if host.retry_at > clock.now():
        return mark(gettext("Paused"), "bad")
    return mark(gettext("Being tried again"), "waiting")


QUEUE = shown("queue", _("Queue"), order="queue", minor=True)
HOST_STATE = shown("state", _("State"), _host_state)
NAME = shown("name", _("Server"), lambda host: shortened(", ".join(host.known_as), 80), order="name")
FAILURES = shown("failures", _("Failures"), order="failures", minor=True)
FAILING_SINCE = shown("failing_since", _("Failing since"), order="failing_since", minor=True)
RETRY = shown("retry_at", _("Next attempt"), order="retry_at")


class _CountedAdmin(FederationAdmin):
    def add_values(self, rows: list[Any]) -> None:
        raise NotImplementedError  # implemented by each subclass

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changes = super().get_changelist_instance(request)
        self.add_values(list(changes.result_list))
        return changes

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            self.add_values([row])
        return row


@admin.register(Host)
class HostAdmin(_CountedAdmin):
    """Hosts that fail or time out, each with the names of its servers."""

    list_display = (NAME, QUEUE, HOST_STATE, FAILURES, FAILING_SINCE, RETRY, ERROR)
    search_fields = ("name",)
    ordering = ("-failing_since",)
    fieldsets = (
        lines(
            None,
            NAME,
            shown("host", _("Host"), lambda host: shortened(host.name, 80)),
            QUEUE,
            HOST_STATE,
            FAILURES,
            FAILING_SINCE,
            RETRY,
            shown("last_error", _("Last error")),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Host]:
        return list_failing_hosts()

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[QuerySet[Host], bool]:
        """Return the hosts whose name, or the name of one of their servers, contains the term."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        named = Domain.objects.filter(host=OuterRef("name"), name__icontains=search_term.strip()).exclude(host="")
        return found | queryset.filter(Exists(named)), may_repeat

    def add_values(self, rows: list[Any]) -> None:
        names = load_names(host.name for host in rows)
        for host in rows:
            host.known_as = names[host.name]


_STATES: Final = {
    "reachable": (_("Reachable"), "good"),
    "backing off": (_("Paused after failures"), "waiting"),
    "unavailable": (_("Unavailable for a week"), "bad"),
}


def _figure(name: str, label: Any, *, minor: bool = False) -> Any:
    return shown(name, label, lambda server: server.figures[name], minor=minor)


SERVER = shown("name", _("Server"), lambda server: shortened(server.name, 80), order="name")
SERVER_STATE = shown("state", _("State"), lambda server: mark(*_STATES[server.figures["state"]]))
RULE = shown("rule", _("Rule"), lambda server: server.rule.get_severity_display() if server.rule is not None else "")
ACCOUNTS = _figure("accounts", _("Accounts"))
POSTS = _figure("posts", _("Posts"), minor=True)
FOLLOWED = _figure("followed", _("Followed by people here"), minor=True)
FOLLOWERS = _figure("followers", _("Followers here"), minor=True)
SOFTWARE = shown(
    "software",
    _("Software"),
    lambda server: address(f"{server.software} {server.version}".strip()) if server.software else "",
    order="software",
    minor=True,
)
REACHED = shown("reached_at", _("Last reached"), order="reached_at", minor=True)
WAITING = _figure("waiting", _("Waiting"))
GIVEN_UP = _figure("given_up", _("Given up"), minor=True)
REFUSALS = shown(
    "not_taken", _("Refused"), lambda server: sum(number for _reason, number in server.refusals), minor=True
)
_REFUSED: Final = (_("Reason"), _("Count"))


def _software() -> list[tuple[str, str]]:
    counts = Domain.objects.values_list("software").annotate(number=Count("id")).order_by("-number", "software")
    return [(name or UNKNOWN, f"{name or gettext('unknown')} ({number})") for name, number in counts[:SOFTWARE_LIMIT]]


SoftwareFilter = dropdown_filter(
    "software",
    _("software"),
    _software,
    lambda rows, chosen: rows.filter(software="" if chosen == UNKNOWN else chosen),
)


@admin.register(Domain)
class ServerAdmin(_CountedAdmin):
    """Known servers, with their accounts, deliveries and failures."""

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
        REFUSALS,
        REACHED,
    )
    list_filter = (SoftwareFilter,)
    search_fields = ("name",)
    ordering = ("name",)
    acts = (
        Act(
            "ask_again",
            _("Retry now"),
            lambda by, server: retry_host(by=by, name=server.name),
            icon="refresh",
            verb="retry",
            one=Words(
                _("Contact this server again now, and also send the deliveries that were given up?"),
                _("The server is being contacted again, and everything for it is being sent."),
            ),
        ),
        Act(
            "drop_deliveries",
            _("Drop deliveries"),
            lambda by, server: drop(by=by, rows=deliveries_to(server.name)),
            icon="delete_sweep",
            verb="discard",
            one=Words(
                _("Drop all waiting deliveries to this server? They will never arrive."),
                _("The deliveries to the server have been dropped."),
            ),
        ),
        Act(
            "purge",
            _("Remove everything"),
            lambda by, server: begin_purge(by=by, domain=server.name),
            # This permission is needed in addition to MANAGE_FEDERATION, without which the page cannot be opened.
            permission=Permission.DELETE_USER_DATA,
            icon="delete_forever",
            variant=ActionVariant.DANGER,
            one=Words(
                _(
                    "Delete all accounts of this server with everything they have posted? They come back "
                    "as soon as somebody here interacts with them or they send something here: suspend "
                    "the server to keep them away."
                ),
                _("The accounts of the server are being removed in the background."),
            ),
            audit=_("%(by)s removed everything of the server %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None, SERVER, shown("first_seen_at", _("First seen")), SOFTWARE, RULE, ACCOUNTS, POSTS, FOLLOWED, FOLLOWERS
        ),
        lines(
            _("State"),
            SERVER_STATE,
            REACHED,
            _figure("failures", _("Failures")),
            _figure("failing_since", _("Failing since")),
            _figure("next_try", _("Next attempt")),
            _figure("last_error", _("Last error")),
        ),
        lines(
            _("Activities refused in the last 30 days"),
            shown("refusals", _("Reasons"), lambda server: table(_REFUSED, server.refusals)),
        ),
        lines(
            _("Deliveries"),
            WAITING,
            _figure("failing", _("Failing")),
            _figure("oldest", _("Oldest waiting since")),
            GIVEN_UP,
        ),
    )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "title": gettext("Known servers")})

    def add_values(self, rows: list[Any]) -> None:
        """Set the figures, the moderation rule, and the counts of refused activities on each server. Three queries."""
        names = [server.name for server in rows]
        figures = {each["domain"]: each for each in load_servers(names, limit=len(names))} if names else {}
        rules = load_rules(names)
        refused = load_refusals({*names, *(server.host for server in rows if server.host)})
        for server in rows:
            server.figures, server.rule = figures[server.name], rules.get(server.name)
            server.refusals = [
                (reason_of(key) or key, count) for sender, key, count in refused if sender in (server.name, server.host)
            ]
