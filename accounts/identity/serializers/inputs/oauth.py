"""Parameters of OAuth: registering an application, the authorization server, and confirmation mails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from rest_framework.fields import SkipField

from social.api.fields import ClientString
from social.api.inputs import Form, Input


class AddressesField(ClientString):
    """A string with one address per line, or a list in any spelling (clients.md, trap 2)."""

    def to_internal_value(self, data: Any) -> Any:
        """Return a string, or a list of strings."""
        if isinstance(data, dict):
            data = list(data.values())
        if isinstance(data, list):
            return [item for item in data if isinstance(item, str)]
        if not isinstance(data, str):
            raise SkipField
        return data


class RegistrationInput(Form):
    """An application's description of itself; the service validates it."""

    client_name: str = ""
    scopes: str | None = None
    website: str | None = None
    redirect_uris: Annotated[str | Sequence[str], AddressesField()] = ""


class ClientInput(Input[dict[str, str]]):
    """The client's id and secret (clients.md, trap 1). The authorization server reports missing values."""

    client_id = ClientString()
    client_secret = ClientString()


class GrantInput(ClientInput):
    """Parameters of `POST /oauth/token`."""

    grant_type = ClientString()
    code = ClientString()
    redirect_uri = ClientString()
    code_verifier = ClientString()
    scope = ClientString()


class TokenInput(ClientInput):
    """Parameters of `POST /oauth/revoke` and `POST /oauth/introspect`."""

    token = ClientString()


class ResendInput(Form):
    """The correct e-mail address, if the one given at sign-up was wrong."""

    email: str | None = None
