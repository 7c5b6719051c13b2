"""Wires the floor of federation."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FederationConfig(AppConfig):
    """The embassy: what comes from other servers and what goes to them. Nothing imports it; it can be left out."""

    name = "federation"
    verbose_name = _("Other servers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Hear the news of the floors below, and answer their port."""
        from accounts.ports import remote_accounts
        from federation import reactions  # noqa: F401  (importing it subscribes)
        from federation.remote.addresses import RemoteAddresses

        if remote_accounts.find() is None:
            remote_accounts.plug(RemoteAddresses())
