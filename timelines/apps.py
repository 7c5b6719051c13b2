"""Wires the floor of timelines."""

from django.apps import AppConfig


class TimelinesConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "timelines"
    default_auto_field = "django.db.models.BigAutoField"
