"""The entities and parameters of OAuth, of sign-up and of confirmation mails (contract, entities; endpoints)."""

from collections.abc import Sequence
from typing import Annotated, Any

from django.conf import settings
from rest_framework.fields import SkipField

from accounts.identity.policies.authorization import RESPONSE_MODES
from accounts.identity.queries.tokens import Authorization
from accounts.models import AccessToken, Account, Application
from accounts.serializers.account import file_url
from social.api import scopes as tree
from social.api.fields import ClientAgreement, ClientString
from social.api.inputs import Form, Input, Stripped
from social.api.serializers import EntitySerializer
from social.kernel import clock, links


class ApplicationSerializer(EntitySerializer):
    """Application, as shown to everybody who holds a token of this application."""

    def to_representation(self, instance: Application) -> dict[str, Any]:
        """Return the entity; `redirect_uri` and `vapid_key` are included for old clients."""
        addresses = instance.registered_redirect_uris
        return {
            "id": str(instance.pk),
            "name": instance.name,
            "website": instance.website,
            "scopes": instance.scope_list,
            "redirect_uri": "\n".join(addresses),
            "redirect_uris": addresses,
            "vapid_key": settings.VAPID_PUBLIC_KEY,
        }


class CredentialApplicationSerializer(ApplicationSerializer):
    """CredentialApplication: an application with its secret, which is shown only once, to the client that registers it."""

    def to_representation(self, instance: Application) -> dict[str, Any]:
        return super().to_representation(instance) | {
            "client_id": instance.client_id,
            "client_secret": instance.client_secret,
            "client_secret_expires_at": 0,
        }


class AuthorizationSerializer(EntitySerializer):
    """The authorization that a person has given to an application, as shown to that person."""

    def to_representation(self, instance: Authorization) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "name": instance.name,
            "website": instance.website,
            "scopes": instance.scopes.split(),
            "created_at": clock.iso(instance.since),
            "last_used_at": clock.iso_or_none(instance.last_used),
        }


class OAuthMetadataSerializer(EntitySerializer):
    """OAuthMetadata (RFC 8414): capabilities and endpoints of this authorization server."""

    def to_representation(self, instance: None) -> dict[str, Any]:
        return {
            "issuer": links.web_url("/"),
            "service_documentation": "https://docs.joinmastodon.org/",
            "authorization_endpoint": links.web_url("/oauth/authorize"),
            "token_endpoint": links.web_url("/oauth/token"),
            "app_registration_endpoint": links.web_url("/api/v1/apps"),
            "revocation_endpoint": links.web_url("/oauth/revoke"),
            "userinfo_endpoint": links.web_url("/oauth/userinfo"),
            "scopes_supported": list(tree.SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": list(RESPONSE_MODES),
            "grant_types_supported": ["authorization_code", "client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
        }


class TokenSerializer(EntitySerializer):
    """Token, which has neither `expires_in` nor a refresh token, because tokens do not expire."""

    def to_representation(self, instance: AccessToken) -> dict[str, Any]:
        """Return the entity, in the same form as in responses of the authorization server."""
        return {
            "access_token": instance.token,
            "token_type": "Bearer",
            "scope": instance.scope,
            "created_at": int(instance.created.timestamp()),
        }


class TokenInfoSerializer(EntitySerializer):
    """TokenInfo: a token's scopes and user, and when it was issued. `expires_in` is null, because tokens do not expire."""

    def to_representation(self, instance: AccessToken) -> dict[str, Any]:
        """Return the entity; `resource_owner_id` is the id of the person's account, null for an application's own token."""
        return {
            "resource_owner_id": str(instance.user.account_id) if instance.user is not None else None,
            "scope": instance.scope.split(),
            "expires_in": None,
            "application": {"uid": instance.application.client_id},
            "created_at": int(instance.created.timestamp()),
        }


class UserInfoSerializer(EntitySerializer):
    """UserInfo (OpenID Connect's claims about a person) of a local account."""

    def to_representation(self, instance: Account) -> dict[str, Any]:
        """Return the entity; `sub` is the actor's id, which never changes."""
        return {
            "iss": links.web_url("/"),
            "sub": instance.uri,
            "name": instance.display_name,
            "preferred_username": instance.username,
            "profile": instance.page_url,
            "picture": file_url(instance.avatar, "", "avatars/original/missing.png"),
        }


class AddressesField(ClientString):
    """A string with one address per line, or a list in any notation (clients.md, trap 2)."""

    def to_internal_value(self, data: Any) -> Any:
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


class SignUpInput(Form):
    """Parameters of a sign-up; the policy validates them."""

    username: Stripped = ""
    email: Stripped = ""
    password: str = ""
    agreement: Annotated[bool, ClientAgreement()] = False
    locale: str | None = None
    reason: str = ""
    time_zone: str | None = None
    date_of_birth: str = ""
    invite_code: Stripped = ""
