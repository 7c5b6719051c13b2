"""Connects allauth's OpenID Connect flow to the issuers in the settings, and checks the issuers' responses."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, NoReturn

from allauth.account import app_settings
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Client
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.identity.pages.steps import ISSUER_METHOD
from accounts.identity.queries.sign_up import find_usable_invite
from accounts.issuers import policies
from accounts.issuers.services import (
    exchange_code,
    find_configuration,
    find_issuer,
    follow_role,
    link_identity,
    read_claims,
)
from accounts.models import User
from accounts.queries.site_settings import find_registrations
from social.api.addresses import client_ip
from social.kernel import clock, links
from social.kernel.errors import Conflict, Forbidden
from social.pages.frame import is_local_path, with_query

if TYPE_CHECKING:
    from social.settings.issuers import Issuer

logger = logging.getLogger(__name__)
#: Maximum length of an ID token that is stored in a session. The token is needed at sign-out, to end the issuer's session.
_KEPT_TOKEN_LIMIT: Final = 8192
#: An additional value of allauth's parameter `process`: a signed-in user reauthenticates with the issuer.
REAUTHENTICATE: Final = "again"


class IssuerAdapter(DefaultSocialAccountAdapter):
    """allauth's adapter for identities. E-mail addresses neither sign anybody in nor link identities to accounts."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the issuers in the settings; no issuer is stored in the database."""
        return [_app_of(issuer) for issuer in settings.ISSUERS if provider in (None, issuer.id)]

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> IssuerProvider:
        return IssuerProvider(request, app=_app_of(find_issuer(provider)))

    def get_requests_session(self) -> Any:
        """Raise NotImplementedError, because requests to issuers are sent by `accounts.issuers.services`."""
        raise NotImplementedError  # a session of `requests` could connect to addresses that the kernel's client refuses

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Complete the purpose for which the user was sent to the issuer: link the identity, record the reauthentication, or
        give the user the role that the issuer states.

        Raises Forbidden, and ImmediateHttpResponse for the page to show next.
        """
        issuer, state, claims = find_issuer(sociallogin.account.provider), sociallogin.state, sociallogin.claims
        # The login is stored in the session while the person fills in a form or enters a second factor. The login must not
        # contain a token with which data could be read from the issuer.
        sociallogin.token = None
        if not policies.may_sign_in(claims, issuer):
            raise Forbidden(_("%(name)s does not allow you to use this server.") % {"name": issuer.name})
        if state["process"] != AuthProcess.LOGIN:
            if not isinstance(request.user, User) or request.user.pk != state["data"]["user"]:
                raise Forbidden(_("You have been signed out in the meantime. Start again."))
            if state["process"] == REAUTHENTICATE:
                self._confirm(request, sociallogin, request.user)
            self._link(request, issuer, claims, request.user)
        state |= {
            "at": clock.now().timestamp(),
            "role": policies.role_of(claims, issuer),
            "username": policies.suggested_username(policies.text_of(claims, issuer.username_claim)),
            "email": policies.confirmed_email(claims, issuer),
            "id_token": sociallogin.id_token if len(sociallogin.id_token) <= _KEPT_TOKEN_LIMIT else "",
        }
        if sociallogin.is_existing:
            follow_role(user=sociallogin.user, issuer=issuer, wanted=state["role"])

    def _confirm(self, request: HttpRequest, sociallogin: SocialLogin, user: User) -> NoReturn:
        if sociallogin.user.pk != user.pk:
            raise Forbidden(_("This identity does not belong to your account."))
        timeout = app_settings.REAUTHENTICATION_TIMEOUT
        if not policies.has_just_signed_in(sociallogin.claims, seconds=timeout, now=clock.now().timestamp()):
            raise Forbidden(_("Your organisation did not ask you to sign in again. Sign out there, then start again."))
        record_authentication(request, user, ISSUER_METHOD, reauthenticated=True)
        next_url = sociallogin.state.get("next") or reverse("front")
        raise ImmediateHttpResponse(redirect(with_query(reverse("identity_again"), next=next_url)))

    def _link(self, request: HttpRequest, issuer: Issuer, claims: dict[str, Any], user: User) -> NoReturn:
        try:
            link_identity(
                user=user,
                issuer=issuer,
                subject=claims["sub"],
                name=policies.shown_name(claims, issuer),
                address=client_ip(request),
            )
        except Conflict as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("You can sign in with %(name)s now.") % {"name": issuer.name})
        raise ImmediateHttpResponse(redirect("identities"))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Raise Forbidden if registrations are closed and the sign-in did not begin with a usable invitation."""
        if find_registrations() == "closed" and find_usable_invite(sociallogin.state["data"]["invite_code"]) is None:
            raise Forbidden(_("There is no account with this identity, and this server does not accept new accounts."))
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return False, because everybody chooses a name and agrees to the rules."""
        return False

    def authenticate_by_email(self, sociallogin: SocialLogin) -> None:
        """Return None, because a user is never identified by their e-mail address (security row 27)."""

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        return sociallogin.user

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        """Redirect to the sign-in page if the person has cancelled at the issuer. Raises Forbidden for any other error."""
        if error == AuthError.CANCELLED:
            raise ImmediateHttpResponse(redirect("account_login"))
        logger.warning("a sign-in by the issuer %s failed: %s", provider.app.provider_id, exception or error)
        raise Forbidden(_("This sign-in has expired or was refused. Start again."))


class _Client(OAuth2Client):
    """Exchanges codes with this server's own HTTP client, and sends a nonce that belongs to the state."""

    def __init__(self, issuer: Issuer, redirect_uri: str) -> None:
        self.issuer, self.redirect_uri = issuer, redirect_uri
        super().__init__(None, issuer.client_id, issuer.client_secret, "POST", "", redirect_uri)

    def get_redirect_url(self, authorization_url: str, scope: list[str], extra_params: dict[str, str]) -> str:
        parameters = extra_params | {"nonce": policies.nonce_of(self.state)}
        # The scopes are joined here, because the library would join them in no particular order.
        url: str = super().get_redirect_url(authorization_url, [" ".join(scope)], parameters)
        return url.replace("?", "&").replace("&", "?", 1) if "?" in authorization_url else url

    def get_access_token(self, code: str, pkce_code_verifier: str = "", extra_data: Any = None) -> dict[str, Any]:
        return exchange_code(self.issuer, code=code, verifier=pkce_code_verifier, redirect_uri=self.redirect_uri)


class IssuerOAuth2Adapter(OpenIDConnectOAuth2Adapter):
    """Sends requests to an issuer with this server's own HTTP client, and checks the signature of every ID token."""

    @property
    def openid_config(self) -> Any:
        return find_configuration(find_issuer(self.provider_id))

    def get_client(self, request: HttpRequest, app: SocialApp) -> _Client:
        return _Client(find_issuer(app.provider_id), links.web_url(self.get_provider().get_callback_url()))

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        return SocialToken()

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Return the login of the person whom the ID token describes. The state has already been removed from the session."""
        tokens, issuer = kwargs["response"], find_issuer(app.provider_id)
        claims = read_claims(issuer, tokens, policies.nonce_of(request.GET["state"]))
        login = self.get_provider().sociallogin_from_response(request, claims)
        login.claims, login.id_token = claims, tokens["id_token"]
        return login


class IssuerProvider(OpenIDConnectProvider):
    """An issuer in the settings. Query parameters do not change the request to the issuer."""

    oauth2_adapter_class = IssuerOAuth2Adapter

    def serialize(self) -> dict[str, Any]:
        return {"id": self.sub_id}

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict[str, Any]:
        """Read the form that begins a sign-in: purpose, next page, invitation, signed-in user."""
        process, form = getattr(request, "issuer_process", AuthProcess.LOGIN), request.POST
        next_url = form.get("next", "")
        return {
            "process": process,
            "next_url": next_url if is_local_path(next_url) else None,
            "data": {"user": request.user.pk, "invite_code": form.get("invite_code", "")[:100]},
            "scope": list(find_issuer(self.app.provider_id).scopes),
            "auth_params": {"max_age": str(app_settings.REAUTHENTICATION_TIMEOUT)} if process == REAUTHENTICATE else {},
        }

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(data["sub"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the only value from the issuer's response that is stored: the name by which people recognise the identity."""
        return {"name": policies.shown_name(data, find_issuer(self.app.provider_id))}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return {}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        return []


def _app_of(issuer: Issuer) -> SocialApp:
    return SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=issuer.id,
        name=issuer.name,
        client_id=issuer.client_id,
        secret=issuer.client_secret,
        settings={"server_url": issuer.issuer, "oauth_pkce_enabled": True},
    )
