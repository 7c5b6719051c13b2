from typing import Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.copies.models import CopyPurpose
from accounts.copies.viewsets import MediaProxyViewSet
from accounts.emojis.queries import find_picture_url, list_local_emojis
from accounts.serializers.account import PickerEmojiSerializer
from social.api.access import anyone, optional_user
from social.api.declarations import Endpoint
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound

_STYLES: Final = {"original": False, "static": True}


class CustomEmojisViewSet(ApiViewSet):
    endpoints = {"list": Endpoint(anyone(), "CustomEmoji", many=True)}

    def list(self, request: Request) -> HttpResponse:
        """Emojis for a client's picker."""
        return reply(PickerEmojiSerializer(list(list_local_emojis()), many=True).data)


class EmojiPicturesViewSet(MediaProxyViewSet):
    """`/media_proxy/emojis/:id/:style`."""

    endpoints = {"retrieve": Endpoint(optional_user(), None, also=("key",))}

    def retrieve(self, request: Request, id: int, style: str) -> HttpResponse:
        """`style`: original or static."""
        if style not in _STYLES:
            raise NotFound
        url = find_picture_url(id)
        keyed = self.has_key(request, url)
        return self.show(request, CopyPurpose.EMOJI, url, small=_STYLES[style], shared=True, keyed=keyed)
