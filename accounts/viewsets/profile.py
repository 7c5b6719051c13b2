"""Endpoints of the caller's own account, profile and preferences."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.tags import list_featured_tags
from accounts.queries.users import find_user
from accounts.serializers.inputs import MAX_BODY, CredentialsInput, ProfileInput
from accounts.serializers.own_account import PreferencesSerializer, ProfileSerializer, present_own_account
from accounts.services.profile_pictures import delete_picture
from accounts.services.profiles import ProfileChange, update_profile
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.responses import reply
from social.api.viewsets import ApiViewSet


class ProfileViewSet(ApiViewSet):
    """`/api/v1/profile`, and the older endpoints for the same: `verify_credentials` and `update_credentials`."""

    endpoints = {
        "verify_credentials": Endpoint(user("read:accounts", "profile"), "CredentialAccount"),
        "update_credentials": Endpoint(
            user("write:accounts"), "CredentialAccount", input=CredentialsInput, also=("source",), max_body=MAX_BODY
        ),
        "retrieve": Endpoint(user("read:accounts", "profile"), "Profile"),
        "update": Endpoint(user("write:accounts"), "Profile", input=ProfileInput, max_body=MAX_BODY),
        **dict.fromkeys(("delete_avatar", "delete_header"), Endpoint(user("write:accounts"), "CredentialAccount")),
    }

    def verify_credentials(self, request: Request) -> HttpResponse:
        """The caller's own account."""
        return self._account()

    def update_credentials(self, request: Request) -> HttpResponse:
        """Change the caller's profile and settings."""
        self._change(CredentialsInput.read(request))
        return self._account()

    def retrieve(self, request: Request) -> HttpResponse:
        """The caller's profile, in the form in which it is edited."""
        return self._profile()

    def update(self, request: Request) -> HttpResponse:
        """Change the caller's profile."""
        self._change(ProfileInput.read(request))
        return self._profile()

    def delete_avatar(self, request: Request) -> HttpResponse:
        """Remove the avatar, so that the default one is shown."""
        delete_picture(account_id=self.account_id, name="avatar")
        return self._account()

    def delete_header(self, request: Request) -> HttpResponse:
        """Remove the header, so that the default one is shown."""
        delete_picture(account_id=self.account_id, name="header")
        return self._account()

    def _change(self, change: ProfileChange) -> None:
        update_profile(user=find_user(self.identity.user_id), change=change)

    def _account(self) -> HttpResponse:
        return reply(present_own_account(self.identity.user_id or 0))

    def _profile(self) -> HttpResponse:
        me = find_user(self.identity.user_id).account
        return reply(ProfileSerializer(me, context={"featured_tags": list(list_featured_tags(me))}).data)


class PreferencesViewSet(ApiViewSet):
    endpoints = {"retrieve": Endpoint(user("read:accounts"), "Preferences")}

    def retrieve(self, request: Request) -> Any:
        """The user's defaults for posting and reading."""
        return PreferencesSerializer(find_user(self.identity.user_id)).data
