"""Wires the floor of statuses."""

from django.apps import AppConfig


class StatusesConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "statuses"
    default_auto_field = "django.db.models.BigAutoField"
