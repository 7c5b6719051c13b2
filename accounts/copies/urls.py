"""The URL of copies of profile pictures."""

from accounts.copies.viewsets import ProfilePicturesViewSet
from social.api.routing import endpoint

urlpatterns = [
    endpoint("media_proxy/accounts/<account_id>/<picture>", ProfilePicturesViewSet, {"get": "retrieve"}),
]
