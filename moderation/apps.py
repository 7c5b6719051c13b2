"""Wires the floor of moderation."""

from django.apps import AppConfig


class ModerationConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "moderation"
    default_auto_field = "django.db.models.BigAutoField"
