"""What applications send to the authorization server."""

from __future__ import annotations

from social.api.inputs import ClientString, Input


class ClientInput(Input[dict[str, str]]):
    """Who asks: in query, form, multipart or JSON (clients.md, trap 1). The authorization server says what is missing."""

    draft = dict
    client_id = ClientString()
    client_secret = ClientString()


class GrantInput(ClientInput):
    """`POST /oauth/token`."""

    grant_type = ClientString()
    code = ClientString()
    redirect_uri = ClientString()
    code_verifier = ClientString()
    scope = ClientString()


class TokenInput(ClientInput):
    """`POST /oauth/revoke` and `POST /oauth/introspect`."""

    token = ClientString()
