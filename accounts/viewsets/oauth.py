"""The machines' side of OAuth: tokens, their revocation, who the user is, and what this server can do."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpResponse
from oauth2_provider.views.mixins import OAuthLibMixin
from rest_framework.request import Request

from accounts.policies.authorization import sentence_of
from accounts.queries.accounts import find_account
from accounts.queries.applications import find_token
from accounts.serializers.application import OAuthMetadataSerializer
from accounts.serializers.inputs.oauth import ClientInput, GrantInput, TokenInput
from accounts.serializers.token import TokenInfoSerializer, UserInfoSerializer
from accounts.services.authorization_server import OAuthRequest
from social.api.access import any_token, anyone, user
from social.api.declarations import EMPTY, Endpoint
from social.api.responses import error, reply
from social.api.viewsets import ApiViewSet

_NEVER_CACHED: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_UNREADABLE: Final = (400, 411, 413, 422)


class OAuthViewSet(OAuthLibMixin, ApiViewSet):
    """The authorization server and what it says of tokens and itself (contract, parameters section 1).

    Errors are those of RFC 6749 section 5.2: `error` holds the code, `error_description` a sentence.
    """

    endpoints = {
        "token": Endpoint(anyone(), "Token", input=GrantInput),
        "revoke": Endpoint(anyone(), EMPTY, input=TokenInput),
        "introspect": Endpoint(anyone(), "Introspection", input=TokenInput),
        "token_info": Endpoint(any_token(), "TokenInfo"),
        "userinfo": Endpoint(user("profile"), "UserInfo"),
        "metadata": Endpoint(anyone(), "OAuthMetadata"),
    }

    def token(self, request: Request) -> HttpResponse:
        """A token for a code, or the application's own."""
        _uri, *answer = self.create_token_response(_asked(request, GrantInput))
        return _reply(*answer)

    def revoke(self, request: Request) -> HttpResponse:
        """Revoke a token; its streams close and its push subscription goes."""
        _uri, *answer = self.create_revocation_response(_asked(request, TokenInput))
        return _reply(*answer)

    def introspect(self, request: Request) -> HttpResponse:
        """Whether a token of the application that asks is good, and for what (RFC 7662)."""
        core = self.get_oauthlib_core()
        sent = core._extract_params(_asked(request, TokenInput))
        return _reply(*core.server.create_introspect_response(*sent))

    def token_info(self, request: Request) -> Any:
        """What the token that is shown can do, and for whom."""
        return TokenInfoSerializer(find_token(self.identity.token_id)).data

    def userinfo(self, request: Request) -> HttpResponse:
        """Who the token's user is. Only the scope `profile` opens it, `read` does not."""
        return reply(UserInfoSerializer(find_account(self.account_id)).data)

    def metadata(self, request: Request) -> Any:
        """What this authorization server can do (RFC 8414)."""
        return reply(OAuthMetadataSerializer().data)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # of DRF, whose Response we do not use
        """The answer to an error; what cannot be read is an `invalid_request` to the clients of tokens."""
        response = super().handle_exception(exc)
        if self.action not in ("token", "revoke", "introspect") or response.status_code not in _UNREADABLE:
            return response
        body = orjson.loads(response.content)
        return error("invalid_request", status=response.status_code, error_description=body["error"])


def _asked(request: Request, form: type[ClientInput]) -> OAuthRequest:
    return OAuthRequest(form.read(request), request.META.get("HTTP_AUTHORIZATION", ""))


def _reply(headers: dict[str, str], body: str, status: int) -> HttpResponse:
    parsed = orjson.loads(body or "{}")
    if status < 400:
        return reply(parsed, headers=_NEVER_CACHED)
    challenge = {name: value for name, value in headers.items() if name == "WWW-Authenticate"}
    description = parsed.get("error_description") or sentence_of(parsed["error"])
    return error(parsed["error"], status=status, headers=challenge, error_description=description)
