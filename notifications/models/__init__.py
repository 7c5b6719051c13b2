"""Lists the tables of the bell."""

from notifications.models.notification import Notification, NotificationType

__all__ = ["Notification", "NotificationType"]
