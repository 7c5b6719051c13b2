"""Wires the floor of federation."""

from django.apps import AppConfig


class FederationConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "federation"
    default_auto_field = "django.db.models.BigAutoField"
