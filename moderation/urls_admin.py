"""The URLs of the API for staff."""

from moderation.blocklists.viewsets import DraftsViewSet, ExclusionsViewSet, SubscriptionsViewSet
from moderation.viewsets.admin.accounts import ACTS, AdminAccountsViewSet
from moderation.viewsets.admin.base import AdminRowsViewSet
from moderation.viewsets.admin.blocks import (
    AdminCanonicalEmailBlocksViewSet,
    AdminDomainAllowsViewSet,
    AdminDomainBlocksViewSet,
    AdminEmailDomainBlocksViewSet,
    AdminIpBlocksViewSet,
)
from moderation.viewsets.admin.figures import AdminFiguresViewSet
from moderation.viewsets.admin.reports import AdminReportsViewSet
from moderation.viewsets.admin.trends import AdminLinkPublishersViewSet, AdminTagsViewSet, AdminTrendsViewSet
from social.api.routing import EndpointPattern, endpoint

_ACCOUNT = "api/v1/admin/accounts/<id>"
_REPORT = "api/v1/admin/reports/<id>"
_SUBSCRIPTIONS = "api/v1/admin/domain_permission_subscriptions"
_DRAFTS = "api/v1/admin/domain_permission_drafts"
_EXCLUSIONS = "api/v1/admin/domain_permission_excludes"
_TRENDS = "api/v1/admin/trends"
_PUBLISHERS = f"{_TRENDS}/links/publishers"


def _rows(path: str, viewset: type[AdminRowsViewSet]) -> list[EndpointPattern]:
    actions = {"get": "retrieve", "put": "update", "delete": "destroy"}
    of_one = {method: action for method, action in actions.items() if action in viewset.endpoints}
    return [
        endpoint(path, viewset, {"get": "list", "post": "create"}),
        endpoint(f"{path}/<id>", viewset, of_one),
    ]


urlpatterns = [
    endpoint("api/v1/admin/accounts", AdminAccountsViewSet, {"get": "list_v1"}),
    endpoint("api/v2/admin/accounts", AdminAccountsViewSet, {"get": "list"}),
    endpoint(_ACCOUNT, AdminAccountsViewSet, {"get": "retrieve", "delete": "destroy"}),
    endpoint(f"{_ACCOUNT}/action", AdminAccountsViewSet, {"post": "act"}),
    endpoint(f"{_ACCOUNT}/approve", AdminAccountsViewSet, {"post": "approve"}),
    endpoint(f"{_ACCOUNT}/reject", AdminAccountsViewSet, {"post": "reject"}),
    *(endpoint(f"{_ACCOUNT}/{name}", AdminAccountsViewSet, {"post": name}) for name in ACTS),
    endpoint("api/v1/admin/reports", AdminReportsViewSet, {"get": "list"}),
    endpoint(_REPORT, AdminReportsViewSet, {"get": "retrieve", "put": "update"}),
    endpoint(f"{_REPORT}/assign_to_self", AdminReportsViewSet, {"post": "assign"}),
    endpoint(f"{_REPORT}/unassign", AdminReportsViewSet, {"post": "unassign"}),
    endpoint(f"{_REPORT}/resolve", AdminReportsViewSet, {"post": "resolve"}),
    endpoint(f"{_REPORT}/reopen", AdminReportsViewSet, {"post": "reopen"}),
    *_rows("api/v1/admin/domain_blocks", AdminDomainBlocksViewSet),
    *_rows("api/v1/admin/domain_allows", AdminDomainAllowsViewSet),
    endpoint(_SUBSCRIPTIONS, SubscriptionsViewSet, {"get": "list", "post": "create"}),
    endpoint(f"{_SUBSCRIPTIONS}/preview", SubscriptionsViewSet, {"get": "preview"}),
    endpoint(f"{_SUBSCRIPTIONS}/<id>", SubscriptionsViewSet, {"get": "retrieve", "put": "update"}),
    endpoint(f"{_SUBSCRIPTIONS}/<id>/remove", SubscriptionsViewSet, {"post": "remove_list"}),
    endpoint(f"{_SUBSCRIPTIONS}/<id>/test", SubscriptionsViewSet, {"post": "test"}),
    endpoint(_DRAFTS, DraftsViewSet, {"get": "list", "post": "create"}),
    endpoint(f"{_DRAFTS}/<id>", DraftsViewSet, {"get": "retrieve"}),
    endpoint(f"{_DRAFTS}/<id>/accept", DraftsViewSet, {"post": "accept"}),
    endpoint(f"{_DRAFTS}/<id>/remove", DraftsViewSet, {"post": "dismiss"}),
    endpoint(_EXCLUSIONS, ExclusionsViewSet, {"get": "list", "post": "create"}),
    endpoint(f"{_EXCLUSIONS}/<id>", ExclusionsViewSet, {"get": "retrieve", "delete": "destroy"}),
    *_rows("api/v1/admin/email_domain_blocks", AdminEmailDomainBlocksViewSet),
    *_rows("api/v1/admin/ip_blocks", AdminIpBlocksViewSet),
    *_rows("api/v1/admin/canonical_email_blocks", AdminCanonicalEmailBlocksViewSet),
    endpoint("api/v1/admin/canonical_email_blocks/test", AdminCanonicalEmailBlocksViewSet, {"post": "test"}),
    endpoint("api/v1/admin/measures", AdminFiguresViewSet, {"post": "measure"}),
    endpoint("api/v1/admin/dimensions", AdminFiguresViewSet, {"post": "break_down"}),
    endpoint("api/v1/admin/retention", AdminFiguresViewSet, {"post": "retain"}),
    endpoint("api/v1/admin/tags", AdminTagsViewSet, {"get": "list"}),
    endpoint("api/v1/admin/tags/<id>", AdminTagsViewSet, {"get": "retrieve", "put": "update"}),
    endpoint(f"{_TRENDS}/tags", AdminTrendsViewSet, {"get": "tags"}),
    endpoint(f"{_TRENDS}/tags/<id>/approve", AdminTrendsViewSet, {"post": "approve_tag"}),
    endpoint(f"{_TRENDS}/tags/<id>/reject", AdminTrendsViewSet, {"post": "reject_tag"}),
    endpoint(f"{_TRENDS}/statuses", AdminTrendsViewSet, {"get": "statuses"}),
    endpoint(f"{_TRENDS}/statuses/<id>/approve", AdminTrendsViewSet, {"post": "approve_status"}),
    endpoint(f"{_TRENDS}/statuses/<id>/reject", AdminTrendsViewSet, {"post": "reject_status"}),
    endpoint(f"{_TRENDS}/links", AdminTrendsViewSet, {"get": "links"}),
    endpoint(f"{_TRENDS}/links/<id>/approve", AdminTrendsViewSet, {"post": "approve_link"}),
    endpoint(f"{_TRENDS}/links/<id>/reject", AdminTrendsViewSet, {"post": "reject_link"}),
    endpoint(_PUBLISHERS, AdminLinkPublishersViewSet, {"get": "list"}),
    endpoint(f"{_PUBLISHERS}/<id>/approve", AdminLinkPublishersViewSet, {"post": "approve"}),
    endpoint(f"{_PUBLISHERS}/<id>/reject", AdminLinkPublishersViewSet, {"post": "reject"}),
]
