"""Endpoints of sign-up, confirmations of e-mail addresses, and OAuth: applications, tokens, their users, metadata."""

from typing import Any, Final

import orjson
from django.http import HttpResponse
from django.utils.translation import gettext as _
from oauth2_provider.views.mixins import OAuthLibMixin
from rest_framework.request import Request

from accounts.identity import serializers
from accounts.identity.policies.authorization import sentence_of
from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.queries.tokens import find_application, find_token
from accounts.identity.services.authorization_server import OAuthRequest
from accounts.identity.services.confirmations import resend_confirmation
from accounts.identity.services.signing_up import sign_up
from accounts.identity.services.tokens import issue_token, register_application
from accounts.models import Application
from accounts.queries.accounts import find_account
from accounts.queries.users import find_user
from accounts.viewsets.accounts import AccountsViewSet
from social.api.access import any_token, anyone, app_token, user
from social.api.admission import admission_of
from social.api.declarations import EMPTY, Endpoint
from social.api.limits import limited
from social.api.responses import error, reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Unauthorized


class AppsViewSet(ApiViewSet):
    """`/api/v1/apps` (contract, parameters section 1)."""

    endpoints = {
        "create": Endpoint(
            anyone(), "CredentialApplication", input=serializers.RegistrationInput, throttles=limited("apps")
        ),
        "verify_credentials": Endpoint(any_token(), "Application"),
    }

    def create(self, request: Request) -> HttpResponse:
        """Register an application. Its secret is shown only in this response."""
        form = serializers.RegistrationInput.read(request)
        application = register_application(
            name=form.client_name, redirect_uris=form.redirect_uris, scopes=form.scopes, website=form.website
        )
        return reply(serializers.CredentialApplicationSerializer(application).data)

    def verify_credentials(self, request: Request) -> HttpResponse:
        """The application that the token was issued to. The token may be a user's or the application's own."""
        return reply(serializers.ApplicationSerializer(find_application(self.identity.application_id)).data)


class EmailsViewSet(ApiViewSet):
    """`/api/v1/emails`: open to people who cannot use their account yet."""

    endpoints = {
        # Any token is accepted here, because an application's own token must get the same error as a token of another
        # application.
        "resend": Endpoint(
            any_token("write:accounts"), EMPTY, input=serializers.ResendInput, throttles=limited("confirmations")
        ),
        "check": Endpoint(any_token("read:accounts"), "Boolean"),
    }

    def resend(self, request: Request) -> Any:
        """Send the confirmation mail again, to another address if one is given."""
        form = serializers.ResendInput.read(request)
        user = find_user(self.identity.user_id) if self.identity.user_id is not None else None
        resend_confirmation(user=user, application_id=self.identity.application_id, email=form.email)
        return {}

    def check(self, request: Request) -> Any:
        """Return whether the address is confirmed."""
        if self.identity.user_id is None:
            raise Unauthorized
        return self.identity.confirmed

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Respond to an error; `check` returns the same error without a token as for a token without a user."""
        admission = admission_of(self.request)
        revoked = admission is not None and admission.refusal is not None
        if self.action == "check" and isinstance(exc, Unauthorized) and not revoked:
            exc = Unauthorized(_("This method requires an authenticated user"))
        return super().handle_exception(exc)


_NO_CACHE: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_UNREADABLE: Final = (400, 411, 413, 422)


class OAuthViewSet(OAuthLibMixin, ApiViewSet):
    """The authorization server (contract, parameters section 1), with the errors of RFC 6749 section 5.2."""

    endpoints = {
        "token": Endpoint(anyone(), "Token", input=serializers.GrantInput),
        "revoke": Endpoint(anyone(), EMPTY, input=serializers.TokenInput),
        "introspect": Endpoint(anyone(), "Introspection", input=serializers.TokenInput),
        "token_info": Endpoint(any_token(), "TokenInfo"),
        "userinfo": Endpoint(user("profile"), "UserInfo"),
        "metadata": Endpoint(anyone(), "OAuthMetadata"),
    }

    def token(self, request: Request) -> HttpResponse:
        """Issue a token for a code, or the application's own token."""
        _uri, *answer = self.create_token_response(_oauth_request(request, serializers.GrantInput))
        return _reply(*answer)

    def revoke(self, request: Request) -> HttpResponse:
        """Revoke a token; its streams are closed and its push subscription is removed."""
        _uri, *answer = self.create_revocation_response(_oauth_request(request, serializers.TokenInput))
        return _reply(*answer)

    def introspect(self, request: Request) -> HttpResponse:
        """Return whether a token of the requesting application is valid, and which scopes it has (RFC 7662)."""
        core = self.get_oauthlib_core()
        sent = core._extract_params(_oauth_request(request, serializers.TokenInput))
        return _reply(*core.server.create_introspect_response(*sent))

    def token_info(self, request: Request) -> Any:
        """Facts about the token of the request: its scopes and its user."""
        return serializers.TokenInfoSerializer(find_token(self.identity.token_id)).data

    def userinfo(self, request: Request) -> HttpResponse:
        """The token's user. Requires the scope `profile`; `read` is not enough."""
        return reply(serializers.UserInfoSerializer(find_account(self.account_id)).data)

    def metadata(self, request: Request) -> Any:
        """Capabilities of this authorization server (RFC 8414)."""
        return reply(serializers.OAuthMetadataSerializer().data)

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Respond to an error; on the endpoints for tokens, an unreadable request is an `invalid_request`."""
        response = super().handle_exception(exc)
        if self.action not in ("token", "revoke", "introspect") or response.status_code not in _UNREADABLE:
            return response
        body = orjson.loads(response.content)
        return error("invalid_request", status=response.status_code, error_description=body["error"])


def _oauth_request(request: Request, form: type[serializers.ClientInput]) -> OAuthRequest:
    return OAuthRequest(form.read(request), request.META.get("HTTP_AUTHORIZATION", ""))


def _reply(headers: dict[str, str], body: str, status: int) -> HttpResponse:
    parsed = orjson.loads(body or "{}")
    if status < 400:
        return reply(parsed, headers=_NO_CACHE)
    challenge = {name: value for name, value in headers.items() if name == "WWW-Authenticate"}
    description = parsed.get("error_description") or sentence_of(parsed["error"])
    return error(parsed["error"], status=status, headers=challenge, error_description=description)


class SignUpViewSet(AccountsViewSet):
    """`/api/v1/accounts`: POST signs up, GET returns accounts by id."""

    endpoints = {
        "create": Endpoint(
            app_token("write:accounts"), "Token", input=serializers.SignUpInput, throttles=limited("sign_up")
        ),
        "list": AccountsViewSet.endpoints["list"],
    }

    def create(self, request: Request) -> HttpResponse:
        """Sign up. Returns a token of the new person that has the scopes of the application."""
        form = serializers.SignUpInput.read(request)
        application = Application.objects.get(id=self.identity.application_id)
        draft = SignUpDraft(**vars(form), ip=request.client_ip)  # type: ignore[attr-defined]  # set by the middleware
        user = sign_up(draft=draft, application=application)
        token = issue_token(application=application, user=user, scopes=application.scope_list)
        return reply(serializers.TokenSerializer(token).data)
