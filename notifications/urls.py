"""The URLs of the notifications app."""

from django.urls import path

from accounts.pages.member import member_page
from notifications.pages.notifications import notifications, remove
from notifications.pages.requests import notification_requests, policy
from notifications.viewsets.annual_reports import AnnualReportsViewSet
from notifications.viewsets.notifications import NotificationGroupsViewSet, NotificationsViewSet
from notifications.viewsets.policies import (
    NotificationPolicyV1ViewSet,
    NotificationPolicyViewSet,
    NotificationRequestsViewSet,
)
from notifications.viewsets.push import PushSubscriptionsViewSet
from social.api.routing import endpoint

_POLICY = {"get": "retrieve", "patch": "update", "put": "update"}
_REQUESTS = "api/v1/notifications/requests"

urlpatterns = [
    path("notifications", member_page(notifications), name="notifications"),
    path("notifications/requests", member_page(notification_requests), name="notification_requests"),
    path("notifications/policy", member_page(policy), name="notification_policy"),
    path("notifications/remove", member_page(remove), name="remove_notifications"),
    endpoint("api/v1/annual_reports", AnnualReportsViewSet, {"get": "list"}),
    endpoint("api/v1/annual_reports/<year>", AnnualReportsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/annual_reports/<year>/state", AnnualReportsViewSet, {"get": "state"}),
    endpoint("api/v1/annual_reports/<year>/read", AnnualReportsViewSet, {"post": "mark_read"}),
    endpoint("api/v1/annual_reports/<year>/generate", AnnualReportsViewSet, {"post": "generate"}),
    endpoint("api/v1_alpha/async_refreshes/<id>", AnnualReportsViewSet, {"get": "refresh"}),
    endpoint("api/v1/notifications", NotificationsViewSet, {"get": "list"}),
    endpoint("api/v1/notifications/clear", NotificationsViewSet, {"post": "clear"}),
    endpoint("api/v1/notifications/unread_count", NotificationsViewSet, {"get": "unread_count"}),
    endpoint("api/v1/notifications/policy", NotificationPolicyV1ViewSet, _POLICY),
    endpoint("api/v2/notifications/policy", NotificationPolicyViewSet, _POLICY),
    endpoint(_REQUESTS, NotificationRequestsViewSet, {"get": "list"}),
    endpoint(f"{_REQUESTS}/accept", NotificationRequestsViewSet, {"post": "accept_many"}),
    endpoint(f"{_REQUESTS}/dismiss", NotificationRequestsViewSet, {"post": "dismiss_many"}),
    endpoint(f"{_REQUESTS}/merged", NotificationRequestsViewSet, {"get": "merged"}),
    endpoint(f"{_REQUESTS}/<id>", NotificationRequestsViewSet, {"get": "retrieve"}),
    endpoint(f"{_REQUESTS}/<id>/accept", NotificationRequestsViewSet, {"post": "accept"}),
    endpoint(f"{_REQUESTS}/<id>/dismiss", NotificationRequestsViewSet, {"post": "dismiss"}),
    endpoint("api/v1/notifications/<id>", NotificationsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/notifications/<id>/dismiss", NotificationsViewSet, {"post": "dismiss"}),
    endpoint("api/v2/notifications", NotificationGroupsViewSet, {"get": "list"}),
    endpoint("api/v2/notifications/clear", NotificationGroupsViewSet, {"post": "clear"}),
    endpoint("api/v2/notifications/unread_count", NotificationGroupsViewSet, {"get": "unread_count"}),
    endpoint("api/v2/notifications/<key>", NotificationGroupsViewSet, {"get": "retrieve"}),
    endpoint("api/v2/notifications/<key>/accounts", NotificationGroupsViewSet, {"get": "accounts"}),
    endpoint("api/v2/notifications/<key>/dismiss", NotificationGroupsViewSet, {"post": "dismiss"}),
    endpoint(
        "api/v1/push/subscription",
        PushSubscriptionsViewSet,
        {"get": "retrieve", "post": "create", "put": "update", "delete": "destroy"},
    ),
    endpoint("api/web/push_subscriptions/<signed>", PushSubscriptionsViewSet, {"delete": "unsubscribe"}),
]
