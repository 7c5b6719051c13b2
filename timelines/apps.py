"""Wires the timelines app."""

from django.apps import AppConfig


class TimelinesConfig(AppConfig):
    """Its packages are listed in docs/architecture.md."""

    name = "timelines"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps below."""
        from timelines import reactions  # noqa: F401
