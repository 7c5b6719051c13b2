"""The Django configuration of the app `notifications`."""

from importlib import import_module

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps on which this app builds, and count unread notifications for pages."""
        import_module("notifications.reactions")
        from accounts.models.user import WAITING_COUNTS
        from notifications.queries.groups import unread_groups

        WAITING_COUNTS["notifications"] = unread_groups
