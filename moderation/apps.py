"""Wires the moderation app."""

from django.apps import AppConfig


class ModerationConfig(AppConfig):
    """Its packages are listed in docs/architecture.md."""

    name = "moderation"
    default_auto_field = "django.db.models.BigAutoField"
