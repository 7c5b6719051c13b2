"""The entities "Token", "TokenInfo" and "UserInfo" (contract, entities; endpoints)."""

from __future__ import annotations

from typing import Any

from accounts.models import AccessToken, Account
from accounts.serializers.emoji import file_url
from social.api.serializers import EntitySerializer
from social.kernel import links


class TokenSerializer(EntitySerializer):
    """Token: no `expires_in` and no refresh token, for tokens do not expire."""

    def to_representation(self, instance: AccessToken) -> dict[str, Any]:
        """The entity, as the authorization server writes it too."""
        return {
            "access_token": instance.token,
            "token_type": "Bearer",
            "scope": instance.scope,
            "created_at": int(instance.created.timestamp()),
        }


class TokenInfoSerializer(EntitySerializer):
    """TokenInfo: what a token can do, for whom, and since when. `expires_in` is null, for tokens do not expire."""

    def to_representation(self, instance: AccessToken) -> dict[str, Any]:
        """The entity; `resource_owner_id` is the id of the person's account, null for an application's own token."""
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
        """The entity; `sub` is the actor's id, which never changes."""
        return {
            "iss": links.web_url("/"),
            "sub": instance.uri,
            "name": instance.display_name,
            "preferred_username": instance.username,
            "profile": instance.page_url,
            "picture": file_url(instance.avatar, "", "avatar.png"),
        }
