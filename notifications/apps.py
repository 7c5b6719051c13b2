"""Wires the floor of notifications."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"
