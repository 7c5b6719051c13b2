"""Wires the floor of people."""

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People: accounts, sign-up, OAuth, follows."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Plug the token source into the reception and listen to what the floor itself announces."""
        import_module("accounts.reactions")
        from accounts.queries.identities import TokenIdentities
        from social.api import identities

        identities.plug_in(TokenIdentities())
