"""The URLs of custom emojis."""

from accounts.emojis.viewsets import CustomEmojisViewSet, EmojiPicturesViewSet
from social.api.routing import endpoint

urlpatterns = [
    endpoint("api/v1/custom_emojis", CustomEmojisViewSet, {"get": "list"}),
    endpoint("media_proxy/emojis/<id>/<style>", EmojiPicturesViewSet, {"get": "retrieve"}),
]
