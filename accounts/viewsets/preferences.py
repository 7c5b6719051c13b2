"""One's own preferences over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.queries.users import find_user
from accounts.serializers.preferences import PreferencesSerializer
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet


class PreferencesViewSet(ApiViewSet):
    """`/api/v1/preferences`."""

    endpoints = {"retrieve": Endpoint(user("read:accounts"), "Preferences")}

    def retrieve(self, request: Request) -> Any:
        """How one posts and reads by default."""
        return PreferencesSerializer(find_user(self.identity.user_id)).data
