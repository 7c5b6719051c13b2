"""Wires the floor of timelines."""

from django.apps import AppConfig


class TimelinesConfig(AppConfig):
    """Its rooms are listed in docs/architecture.md."""

    name = "timelines"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the floors below."""
        from timelines import reactions  # noqa: F401
