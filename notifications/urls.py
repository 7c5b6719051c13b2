"""The URLs of the notifications app."""

from notifications.viewsets.notifications import NotificationsViewSet
from social.api.routing import endpoint

urlpatterns = [
    endpoint("api/v1/notifications", NotificationsViewSet, {"get": "list"}),
    endpoint("api/v1/notifications/clear", NotificationsViewSet, {"post": "clear"}),
    endpoint("api/v1/notifications/<id>", NotificationsViewSet, {"get": "retrieve"}),
    endpoint("api/v1/notifications/<id>/dismiss", NotificationsViewSet, {"post": "dismiss"}),
]
