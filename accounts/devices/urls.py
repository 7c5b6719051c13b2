"""The URLs of end-to-end encryption."""

from accounts.devices.viewsets import CryptoViewSet
from social.api.routing import endpoint

urlpatterns = [
    endpoint("api/v1/crypto/keys/upload", CryptoViewSet, {"post": "upload"}),
    endpoint("api/v1/crypto/keys/query", CryptoViewSet, {"post": "query"}),
    endpoint("api/v1/crypto/keys/claim", CryptoViewSet, {"post": "claim"}),
    endpoint("api/v1/crypto/keys/count", CryptoViewSet, {"get": "count"}),
    endpoint("api/v1/crypto/deliveries", CryptoViewSet, {"post": "deliver"}),
    endpoint("api/v1/crypto/encrypted_messages", CryptoViewSet, {"get": "messages"}),
    endpoint("api/v1/crypto/encrypted_messages/clear", CryptoViewSet, {"post": "clear"}),
]
