"""Wires the statuses app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StatusesConfig(AppConfig):
    """Its packages are listed in docs/architecture.md."""

    name = "statuses"
    verbose_name = _("Posts")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps below."""
        from statuses import reactions  # noqa: F401
