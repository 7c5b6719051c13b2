"""The Django configuration of the app `accounts`."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Subscribe to events, connect the ports of lower layers, and register portable lists and parts of archives."""
        import_module("accounts.reactions")
        from accounts.identity.queries.sign_up import load_refused_networks
        from accounts.identity.services.tokens import TokenIdentities
        from accounts.queries.site_settings import load_identity
        from accounts.services.audit import record_by_user
        from accounts.transfers.services.archives import register_parts
        from accounts.transfers.services.portable_lists import register_lists
        from social.api import identities, refused_networks
        from social.kernel import identity
        from social.kernel.ports import audit_log

        audit_log.plug(record_by_user)
        identity.source.plug(load_identity)
        identities.source.plug(TokenIdentities())
        refused_networks.source.plug(load_refused_networks)
        register_lists()
        register_parts()
