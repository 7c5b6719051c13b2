"""GoToSocial's API for blocklists: subscriptions, drafts, and exceptions (adr/0043). Every endpoint requires
MANAGE_FEDERATION. `docs/interop.md` lists the differences from GoToSocial.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models.user import Permission
from moderation.blocklists import queries, serializers
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, EntryStep
from moderation.blocklists.services import lists
from moderation.blocklists.services.fetching import ListError, fetch_list_now
from moderation.blocklists.services.settling import accept_entry, dismiss_entry
from moderation.blocklists.services.staff_drafts import draft_rule
from moderation.blocklists.services.taking import compare_list
from moderation.policies.domain_rules import domain_elsewhere
from moderation.viewsets.admin.base import AdminRowsViewSet
from social.api import access
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.kernel.errors import Conflict, Invalid, require_found

_READ: Final = access.staff("admin:read", Permission.MANAGE_FEDERATION)
_WRITE: Final = access.staff("admin:write", Permission.MANAGE_FEDERATION)
_PAGES: Final = ByCursor(Limit(20, 200))
_SUBSCRIPTION: Final = "DomainPermissionSubscription"
_PERMISSION: Final = "DomainPermission"
_PARAMETERS: Final = {
    "name": "title",
    "url": "uri",
    "username": "fetch_username",
    "password": "fetch_password",
    "comment": "private_comment",
}


class _PermissionsViewSet(AdminRowsViewSet):
    """Base of these endpoints: errors name the parameters of GoToSocial, and a value that is already taken causes an error
    409.
    """

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        if isinstance(exc, Invalid) and exc.errors:
            errors = [replace(error, field=_PARAMETERS.get(error.field, error.field)) for error in exc.errors]
            renamed = Invalid.of(errors, details=True)
            exc = Conflict(renamed.message) if all(error.code == "ERR_TAKEN" for error in errors) else renamed
        return super().handle_exception(exc)

    def respond(self, rows: QuerySet[Any]) -> HttpResponse:
        """Return the requested page of these rows."""
        page = self.paginate(rows)
        return page.respond(self.entities(page.items))


class SubscriptionsViewSet(_PermissionsViewSet):
    """Subscriptions to lists."""

    endpoints = {
        "list": Endpoint(_READ, _SUBSCRIPTION, many=True, paging=_PAGES, input=serializers.TypeInput),
        "preview": Endpoint(_READ, _SUBSCRIPTION, many=True, input=serializers.PreviewInput),
        "create": Endpoint(_WRITE, _SUBSCRIPTION, input=serializers.NewSubscriptionInput),
        "retrieve": Endpoint(_READ, _SUBSCRIPTION),
        "update": Endpoint(_WRITE, _SUBSCRIPTION, input=serializers.SubscriptionInput),
        "remove_list": Endpoint(_WRITE, _SUBSCRIPTION, input=serializers.RemoveInput),
        "test": Endpoint(_WRITE, "DomainPermissionTest"),
    }
    model, serializer = Blocklist, serializers.SubscriptionSerializer
    titles = {"retrieve": "A subscription to a list."}

    def list(self, request: Request) -> HttpResponse:
        """List of subscriptions, newest first."""
        rows = queries.list_subscriptions()
        return self.respond(rows.none() if serializers.TypeInput.read(request).is_for_allows else rows)

    def preview(self, request: Request) -> HttpResponse:
        """List of all subscriptions, oldest first."""
        is_for_allows = serializers.PreviewInput.read(request).is_for_allows
        return reply(self.entities([] if is_for_allows else list(queries.list_subscriptions().order_by("id"))))

    def create(self, request: Request) -> HttpResponse:
        """Subscribe to a list, which is fetched soon."""
        return self.present(lists.subscribe(by=self.by, draft=serializers.NewSubscriptionInput.read(request).draft()))

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change a subscription; values that are not sent stay as they are."""
        blocklist = self.find(id)
        lists.change_values(
            by=self.by, blocklist=blocklist, changes=serializers.SubscriptionInput.read(request).changes()
        )
        return self.present(self.find(id))

    def remove_list(self, request: Request, id: int) -> HttpResponse:
        """Remove a subscription, and the rules that came only from it unless `remove_children` is false."""
        blocklist = self.find(id)
        entity = self.entities([blocklist])[0]
        if serializers.RemoveInput.read(request).remove_children:
            lists.withdraw_list(by=self.by, blocklist=blocklist, remove=True)
        else:
            lists.unsubscribe(by=self.by, blocklist=blocklist)
        return reply(entity)

    def test(self, request: Request, id: int) -> HttpResponse:
        """Fetch a list, and return the rules that it would add, or the error; nothing is changed."""
        blocklist = self.find(id)
        try:
            read = fetch_list_now(blocklist).read
        except ListError as error:
            return reply({"error": str(error)})
        entries = compare_list(blocklist, read)
        planned = zip(entries, queries.plan_entries(blocklist, entries), strict=True)
        new = [entry for entry, decision in planned if decision.step == EntryStep.BLOCK]
        return reply(serializers.EntrySerializer(new, many=True).data)

    def find(self, row_id: int) -> Blocklist:
        return require_found(queries.list_subscriptions().filter(pk=row_id).first())

    def context(self, rows: Sequence[Any]) -> dict[str, Any]:
        return {"creators": queries.load_creators("Blocklist", [row.pk for row in rows])}


class DraftsViewSet(_PermissionsViewSet):
    """Drafts of staff, and rules requested by lists, while they are waiting for a decision."""

    endpoints = {
        "list": Endpoint(_READ, _PERMISSION, many=True, paging=_PAGES, input=serializers.DraftsInput),
        "create": Endpoint(_WRITE, _PERMISSION, input=serializers.NewDraftInput),
        "retrieve": Endpoint(_READ, _PERMISSION),
        "accept": Endpoint(_WRITE, _PERMISSION, input=serializers.AcceptInput),
        "dismiss": Endpoint(_WRITE, _PERMISSION, input=serializers.RemoveDraftInput),
    }
    model, serializer = BlocklistEntry, serializers.DraftSerializer
    titles = {"retrieve": "A rule that waits for a decision."}

    def list(self, request: Request) -> HttpResponse:
        """List of rules that are waiting for a decision, newest first."""
        form, rows = serializers.DraftsInput.read(request), queries.list_drafts()
        if form.is_for_allows:
            rows = rows.none()
        if form.subscription_id:
            rows = rows.filter(blocklist_id=form.list_id) if form.list_id is not None else rows.none()
        if form.domain:
            rows = rows.filter(domain=domain_elsewhere(form.domain) or form.domain)
        return self.respond(rows)

    def create(self, request: Request) -> HttpResponse:
        """Draft a rule that suspends a server."""
        return self.present(draft_rule(by=self.by, **serializers.NewDraftInput.read(request).chosen()))

    def accept(self, request: Request, id: int) -> HttpResponse:
        """Create the rule that a draft requests; an existing rule is changed only with `overwrite`."""
        entry = self.find(id)
        rule = accept_entry(by=self.by, entry=entry, overwrite=serializers.AcceptInput.read(request).overwrite)
        return reply(
            serializers.AcceptedSerializer(rule, context={"entry": entry, "account_id": self.by.account_id}).data
        )

    def dismiss(self, request: Request, id: int) -> HttpResponse:
        """Dismiss a draft; with `exclude_target`, no list may block the server from now on."""
        entry = self.find(id)
        entity = self.entities([entry])[0]
        dismiss_entry(by=self.by, entry=entry, protect=serializers.RemoveDraftInput.read(request).exclude_target)
        return reply(entity)

    def find(self, row_id: int) -> BlocklistEntry:
        return require_found(queries.list_drafts().filter(pk=row_id).first())

    def context(self, rows: Sequence[Any]) -> dict[str, Any]:
        return {
            "creators": queries.load_creators("BlocklistEntry", [row.pk for row in rows], "draft"),
            "list_creators": queries.load_creators("Blocklist", {row.blocklist_id for row in rows if row.blocklist_id}),
        }


class ExclusionsViewSet(_PermissionsViewSet):
    """Servers that no list may block."""

    endpoints = {
        "list": Endpoint(_READ, _PERMISSION, many=True, paging=_PAGES, input=serializers.DomainInput),
        "create": Endpoint(_WRITE, _PERMISSION, input=serializers.NewExclusionInput),
        "retrieve": Endpoint(_READ, _PERMISSION),
        "destroy": Endpoint(_WRITE, _PERMISSION),
    }
    model, serializer = BlocklistException, serializers.ExclusionSerializer
    titles = {"retrieve": "An exception from lists."}

    def list(self, request: Request) -> HttpResponse:
        """List of servers that no list may block, newest first."""
        domain = serializers.DomainInput.read(request).domain
        rows = BlocklistException.objects.all()
        return self.respond(rows.filter(domain=domain_elsewhere(domain) or domain) if domain else rows)

    def create(self, request: Request) -> HttpResponse:
        """Protect a server, its subdomains and its parent domains from all lists."""
        form = serializers.NewExclusionInput.read(request)
        return self.present(lists.add_exception(by=self.by, domain=form.domain, comment=form.private_comment))

    def destroy(self, request: Request, id: int) -> HttpResponse:
        """Remove an exception: lists may block the server again."""
        exception = self.find(id)
        entity = self.entities([exception])[0]
        lists.remove_exception(by=self.by, exception=exception)
        return reply(entity)

    def context(self, rows: Sequence[Any]) -> dict[str, Any]:
        return {"creators": queries.load_creators("BlocklistException", [row.pk for row in rows])}
