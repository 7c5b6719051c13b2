"""The machines' side of OAuth: tokens, their revocation, who the user is, and what this server can do."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

import orjson
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.serializers.application import metadata_entity
from accounts.serializers.token import TokenSerializer, UserInfoSerializer
from accounts.services.applications import authenticate_application, revoke_token
from accounts.services.tokens import exchange_code, issue_application_token, missing_parameter
from social.api.access import anyone, user
from social.api.declarations import EMPTY, Endpoint
from social.api.inputs import ClientString, Input
from social.api.responses import error, reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import BadRequest

_NEVER_CACHED = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_UNREADABLE: Final = (400, 411, 413, 422)


@dataclass(frozen=True)
class TokenForm:
    """The parameters of `POST /oauth/token` and `POST /oauth/revoke`."""

    grant_type: str = ""
    client_id: str = ""
    client_secret: str = ""
    code: str = ""
    redirect_uri: str = ""
    code_verifier: str = ""
    scope: str = ""
    token: str = ""


class TokenInput(Input[TokenForm]):
    """In query, form, multipart or JSON (clients.md, trap 1); every one is optional here, the services decide."""

    draft = TokenForm
    grant_type = ClientString()
    client_id = ClientString()
    client_secret = ClientString()
    code = ClientString()
    redirect_uri = ClientString()
    code_verifier = ClientString()
    scope = ClientString()
    token = ClientString()


def _credentials(request: Request, form: TokenForm) -> tuple[str, str]:
    """Client id and secret: HTTP Basic if sent, else the parameters (RFC 6749 section 2.3.1)."""
    scheme, _space, encoded = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() != "basic":
        return form.client_id, form.client_secret
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    client_id, _colon, secret = decoded.partition(":")
    return unquote_plus(client_id), unquote_plus(secret)


class OAuthViewSet(ApiViewSet):
    """`/oauth/token`, `/oauth/revoke`, `/oauth/userinfo` and the metadata (contract, parameters section 1).

    Errors are those of RFC 6749 section 5.2: `error` holds the code, `error_description` a sentence.
    """

    endpoints = {
        "token": Endpoint(anyone(), "Token", input=TokenInput),
        "revoke": Endpoint(anyone(), EMPTY, input=TokenInput),
        "userinfo": Endpoint(user("profile"), "UserInfo"),
        "metadata": Endpoint(anyone(), "OAuthMetadata"),
    }

    def token(self, request: Request) -> HttpResponse:
        """A token for a code, or the application's own."""
        form = TokenInput.read(request)
        if not form.grant_type:
            raise missing_parameter("grant_type")
        if form.grant_type not in ("authorization_code", "client_credentials"):
            description = _("The authorization grant type is not supported by the authorization server.")
            raise BadRequest("unsupported_grant_type", error_description=description)
        client_id, client_secret = _credentials(request, form)
        by_code = form.grant_type == "authorization_code"
        application = authenticate_application(
            client_id=client_id, client_secret=client_secret, secret_optional=by_code
        )
        if not by_code:
            issued = issue_application_token(application=application, scope=form.scope)
        elif not form.code:
            raise missing_parameter("code")
        elif not form.redirect_uri:
            raise missing_parameter("redirect_uri")
        else:
            issued = exchange_code(
                application=application,
                code=form.code,
                redirect_uri=form.redirect_uri,
                verifier=form.code_verifier,
            )
        return reply(TokenSerializer(issued).data, headers=_NEVER_CACHED)

    def revoke(self, request: Request) -> HttpResponse:
        """Revoke a token; its streams close and its push subscription goes."""
        form = TokenInput.read(request)
        client_id, client_secret = _credentials(request, form)
        revoke_token(token=form.token, client_id=client_id, client_secret=client_secret)
        return reply({}, headers=_NEVER_CACHED)

    def userinfo(self, request: Request) -> HttpResponse:
        """Who the token's user is. Only the scope `profile` opens it, `read` does not."""
        return reply(UserInfoSerializer(find_account(self.account_id)).data)

    def metadata(self, request: Request) -> Any:
        """What this authorization server can do (RFC 8414)."""
        return reply(metadata_entity())

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # of DRF, whose Response we do not use
        """The answer to an error; what cannot be read is an `invalid_request` to the clients of tokens."""
        response = super().handle_exception(exc)
        if self.action not in ("token", "revoke") or response.status_code not in _UNREADABLE:
            return response
        body = orjson.loads(response.content)
        if "error_description" in body:
            return response
        return error("invalid_request", status=response.status_code, error_description=body["error"])
