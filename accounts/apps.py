"""Wires the floor of people."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People: accounts, sign-up, OAuth, follows."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Plug the token source into the reception."""
        from accounts.queries.identities import TokenIdentities
        from social.api import identities

        identities.plug_in(TokenIdentities())
