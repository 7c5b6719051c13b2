"""The OAuth 2 authorization server: django-oauth-toolkit on oauthlib, with the rules in which this API differs from it.
The toolkit finds these classes through `settings.OAUTH2_PROVIDER`. Each method adds a rule of the contract (parameters
section 1, behaviours section 5). `accounts.identity.queries.tokens` finds the user of a token (docs/adr/0016).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib import oauth2
from oauthlib.common import Request, urlencode
from oauthlib.oauth2.rfc6749 import errors

from accounts.identity.policies.authorization import RESPONSE_MODES
from accounts.identity.services.tokens import issue_token, revoke_tokens
from accounts.models import AccessToken, Application, Grant, User
from social.api import scopes as tree
from social.api.admission import checksum_of

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class OAuthRequest:
    """A request of an application: its parameters, its `Authorization` header, and the `user` who authorizes it.

    Only parameters that the endpoint declares may be passed, because oauthlib makes each parameter an attribute of its own
    request, even one named `user`.
    """

    parameters: Mapping[str, str]
    authorization: str = ""
    user: User | None = None


class Core(OAuthLibCore):
    """Adapter from OAuthRequest to oauthlib; parameters from forms, queries and JSON are treated alike."""

    def _extract_params(self, request: OAuthRequest) -> tuple[str, str, str, dict[str, str]]:
        sent = {name: value for name, value in request.parameters.items() if value}
        if "scope" in sent:
            sent["scope"] = " ".join(tree.parse(sent["scope"]))
        scheme, _space, credentials = request.authorization.partition(" ")
        headers = {"HTTP_AUTHORIZATION": f"Basic {credentials.strip()}"} if scheme.lower() == "basic" else {}
        return "", "POST", urlencode(sent.items()), headers


class Validator(OAuth2Validator):
    """Validator of oauthlib's requests against this server's tables."""

    def _load_application(self, client_id: str | None, request: Request) -> Application | None:
        # PostgreSQL refuses NUL in text; the toolkit does not expect the ValueError that Django raises.
        return None if "\0" in (client_id or "") else super()._load_application(client_id, request)

    def authenticate_client(self, request: Request, *args: Any) -> bool:
        """Tell whether the client has sent its secret; an `Authorization` header, even a wrong one, overrides the body."""
        if self._extract_basic_auth(request) is None:
            return bool(self._authenticate_request_body(request))
        try:
            return bool(self._authenticate_basic_auth(request))
        except ValueError:  # invalid Base64, which the toolkit does not expect
            return False

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        """Require PKCE from clients without a secret; nothing else ties a code to its requester (RFC 9700 section 2.1.1)."""
        return bool(request.client.client_type == Application.CLIENT_PUBLIC)

    def validate_scopes(self, client_id: str, scopes: Sequence[str], client: Application, request: Request) -> bool:
        """Tell whether the application may have these scopes; a user's token may also have children of registered scopes."""
        return set(scopes) <= set(client.scope_list) if request.grant_type else tree.covers(client.scope_list, scopes)

    def validate_code(self, client_id: str, code: str, client: Application, request: Request) -> bool:
        """Tell whether a code may be exchanged, and lock its row, so that one of two simultaneous exchanges fails.

        A failed attempt does not use the code up. A second exchange revokes the token, because one of the two clients
        was not the application (RFC 6749 section 4.1.2).
        """
        grant = Grant.objects.select_for_update().filter(code=code, application=client).first()
        if grant is not None and grant.access_token_id is not None:
            revoke_tokens(AccessToken.objects.filter(pk=grant.access_token_id))
        elif grant is not None and grant.redirect_uri_allowed(request.redirect_uri) and grant.user.is_active:
            return bool(super().validate_code(client_id, code, client, request))
        return False

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        """Return the challenge. Raises InvalidGrantError for a verifier without a challenge, because somebody may have
        removed the challenge from the authorization request (RFC 9700 section 4.8.2).
        """
        challenge: str | None = super().get_code_challenge(code, request)
        if challenge is not None:
            _require_parameters("code_verifier")(request)
        elif request.code_verifier:
            raise errors.InvalidGrantError(request=request)
        return challenge

    def _save_bearer_token(self, token: dict[str, Any], request: Request) -> None:
        """Issue a token, or return the existing one of the same application, user and scopes; tokens do not expire."""
        issued = issue_token(application=request.client, user=request.user, scopes=request.scopes)
        del token["expires_in"]
        token |= {"access_token": issued.token, "scope": issued.scope, "created_at": int(issued.created.timestamp())}
        request.access_token = issued

    def invalidate_authorization_code(self, client_id: str, code: str, request: Request) -> None:
        """Store the token with the code instead of deleting the code, so that a second use is noticed."""
        Grant.objects.filter(code=code, application=request.client).update(access_token=request.access_token)

    def revoke_token(self, token: str, token_type_hint: str | None, request: Request) -> None:
        """Revoke the token that `validate_revocation_request` has found, if any."""
        if request.access_token is not None:
            revoke_tokens(AccessToken.objects.filter(pk=request.access_token.pk))

    def introspect_token(self, token: str, token_type_hint: str | None, request: Request) -> dict[str, Any] | None:
        """Return the properties of the client's own token; None for any other token (RFC 7662 section 4)."""
        row = _find_token(token)
        if row is None or row.application_id != request.client.pk or row.is_expired():
            return None
        issued = int(row.created.timestamp())
        return {"scope": row.scope, "client_id": request.client.client_id, "token_type": "Bearer", "iat": issued}


class CodeGrant(oauth2.AuthorizationCodeGrant):
    """The authorization code grant; the view builds the redirect, because oauthlib does not know all response modes."""

    def _handle_redirects(self, request: Request) -> None:
        # Redirect URIs are compared exactly, in any scheme; oauthlib's own check refuses URIs with non-ASCII characters.
        if not request.redirect_uri:
            raise errors.MissingRedirectURIError(request=request)
        if request.redirect_uri not in request.client.registered_redirect_uris:
            raise errors.MismatchingRedirectURIError(request=request)

    def prepare_authorization_response(self, request: Request, token: Any, headers: Any, body: Any, status: int) -> Any:
        return headers, token, status


class Server(oauth2.AuthorizationEndpoint, oauth2.TokenEndpoint, oauth2.RevocationEndpoint, oauth2.IntrospectEndpoint):
    """The endpoints, for two grants: authorization code and client credentials. There are no refresh tokens."""

    def __init__(self, request_validator: Validator, **settings: Any) -> None:
        pre_auth, pre_token = [_check_authorization], [_require_parameters("code", "redirect_uri")]
        code = CodeGrant(request_validator, pre_auth=pre_auth, pre_token=pre_token, refresh_token=False)
        own = oauth2.ClientCredentialsGrant(request_validator)
        bearer = oauth2.BearerToken(request_validator)
        grants = {"authorization_code": code, "client_credentials": own}
        oauth2.AuthorizationEndpoint.__init__(self, "code", bearer, {"code": code})
        oauth2.TokenEndpoint.__init__(self, "authorization_code", bearer, grants)
        oauth2.RevocationEndpoint.__init__(self, request_validator)
        oauth2.IntrospectEndpoint.__init__(self, request_validator)

    def create_token_response(self, *args: Any) -> Any:
        """Respond in one transaction. oauthlib returns errors instead of raising them, so a revocation is not rolled back."""
        with transaction.atomic():
            return super().create_token_response(*args)

    def validate_token_request(self, request: Request) -> None:
        """Check the grant type before everything else; only the exact names of the grant types are accepted."""
        _require_parameters("grant_type")(request)
        if request.grant_type not in self.grant_types:
            raise errors.UnsupportedGrantTypeError(request=request)

    def validate_revocation_request(self, request: Request) -> None:
        """Let an application revoke only its own tokens. A request to revoke an unknown token succeeds, whoever sends it."""
        access_token = request.access_token = _find_token(request.token)
        if access_token is None:
            return
        with suppress(errors.InvalidClientError):
            self._raise_on_invalid_client(request)
            if request.client.pk == access_token.application_id:
                return
        description = _("You are not authorized to revoke this token")
        raise errors.CustomOAuth2Error("unauthorized_client", description=description, status_code=403)


def _find_token(token: str | None) -> AccessToken | None:
    return AccessToken.objects.filter(token_checksum=checksum_of(token or "")).first()


def _require_parameters(*names: str) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        for name in names:
            if not getattr(request, name):
                raise _invalid(request, _("Missing required parameter: %(name)s.") % {"name": name})

    return check


def _invalid(request: Request, description: str) -> errors.InvalidRequestError:
    return errors.InvalidRequestError(description=description, request=request)


def _check_authorization(request: Request) -> dict[str, Any]:
    """Require response type `code` and a known response mode; PKCE (RFC 7636) is optional here and always S256."""
    if request.response_type and request.response_type != "code":
        raise errors.UnsupportedResponseTypeError(request=request)
    if request.response_mode and request.response_mode not in RESPONSE_MODES:
        raise _invalid(request, _("This response_mode is not supported."))
    if request.code_challenge:
        _require_parameters("code_challenge_method")(request)
        if request.code_challenge_method != "S256":
            description = _("The code_challenge_method must be S256.")
            raise errors.CustomOAuth2Error("invalid_code_challenge_method", description=description, request=request)
        if not _CHALLENGE.fullmatch(request.code_challenge):
            raise _invalid(request, _("The parameter code_challenge is malformed."))
    return {}
