"""Wires the federation app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FederationConfig(AppConfig):
    """Federation: what comes from other servers and what goes to them. Nothing imports it; it can be left out."""

    name = "federation"
    verbose_name = _("Other servers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to the events of the apps below, and answer their port."""
        from accounts.ports import remote_accounts
        from federation import reactions  # noqa: F401  (importing it subscribes)
        from federation.remote.addresses import RemoteAddresses

        if remote_accounts.find() is None:
            remote_accounts.plug(RemoteAddresses())
