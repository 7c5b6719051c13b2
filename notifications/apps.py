"""The Django configuration of the app `notifications`."""

from importlib import import_module

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events, register the unread count, and exempt posts that have notifications from clean-up."""
        import_module("notifications.reactions")
        from django.db.models import Exists, OuterRef

        from accounts.models.user import WAITING_COUNTS
        from notifications.models import Notification
        from notifications.queries.groups import unread_groups
        from statuses.services.remote_retention import register_need

        WAITING_COUNTS["notifications"] = unread_groups
        register_need(Exists(Notification.objects.filter(status_id=OuterRef("id"))))
