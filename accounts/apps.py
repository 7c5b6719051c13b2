"""Wires the accounts app."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    """People: accounts, sign-up, OAuth, follows."""

    name = "accounts"
    verbose_name = _("People")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Plug the token source into the API layer and subscribe to the app's own events."""
        import_module("accounts.reactions")
        from accounts.queries.identities import TokenIdentities
        from accounts.queries.sign_up import load_refused_networks
        from social.api import identities, refused_networks

        identities.plug_in(TokenIdentities())
        refused_networks.plug_in(load_refused_networks)
