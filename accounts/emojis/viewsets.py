"""Custom emojis over HTTP."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.emojis.queries import list_local_emojis
from accounts.serializers.account import PickerEmojiSerializer
from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.responses import reply
from social.api.viewsets import ApiViewSet


class CustomEmojisViewSet(ApiViewSet):
    endpoints = {"list": Endpoint(anyone(), "CustomEmoji", many=True)}

    def list(self, request: Request) -> HttpResponse:
        """Emojis for a client's picker."""
        return reply(PickerEmojiSerializer(list(list_local_emojis()), many=True).data)
