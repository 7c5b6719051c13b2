"""The doors of the floor of people; OAuth and the pages have their own list."""

from accounts.viewsets.accounts import AccountsViewSet
from accounts.viewsets.collections import CollectionsViewSet
from accounts.viewsets.crypto import CryptoViewSet
from accounts.viewsets.emojis import CustomEmojisViewSet
from social.api.routing import endpoint

ACCOUNT = "api/v1/accounts/<id>"
urlpatterns = [
    endpoint("api/v1/accounts", AccountsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/accounts/verify_credentials", AccountsViewSet, {"get": "verify_credentials"}),
    endpoint("api/v1/verify_credentials", AccountsViewSet, {"get": "verify_credentials"}),
    endpoint(
        "api/v1/accounts/update_credentials",
        AccountsViewSet,
        {"patch": "update_credentials", "put": "update_credentials"},
    ),
    endpoint("api/v1/accounts/lookup", AccountsViewSet, {"get": "lookup"}),
    endpoint("api/v1/accounts/search", AccountsViewSet, {"get": "search"}),
    endpoint("api/v1/accounts/relationships", AccountsViewSet, {"get": "relationships"}),
    endpoint(ACCOUNT, AccountsViewSet, {"get": "retrieve"}),
    *(
        endpoint(f"{ACCOUNT}/{name}", AccountsViewSet, {"post": name})
        for name in ("follow", "unfollow", "block", "unblock", "mute", "unmute")
    ),
    endpoint(f"{ACCOUNT}/collections", CollectionsViewSet, {"get": "of_account"}),
    endpoint(f"{ACCOUNT}/in_collections", CollectionsViewSet, {"get": "with_account"}),
    endpoint("api/v1/collections", CollectionsViewSet, {"post": "create"}),
    endpoint(
        "api/v1/collections/<id>",
        CollectionsViewSet,
        {"get": "retrieve", "patch": "update", "put": "update", "delete": "destroy"},
    ),
    endpoint("api/v1/collections/<collection_id>/items", CollectionsViewSet, {"post": "add"}),
    endpoint("api/v1/collections/<collection_id>/items/<id>", CollectionsViewSet, {"delete": "remove"}),
    endpoint("api/v1/collections/<collection_id>/items/<id>/revoke", CollectionsViewSet, {"post": "revoke"}),
    endpoint("api/v1/crypto/keys/upload", CryptoViewSet, {"post": "upload"}),
    endpoint("api/v1/crypto/keys/query", CryptoViewSet, {"post": "query"}),
    endpoint("api/v1/crypto/keys/claim", CryptoViewSet, {"post": "claim"}),
    endpoint("api/v1/crypto/keys/count", CryptoViewSet, {"get": "count"}),
    endpoint("api/v1/crypto/deliveries", CryptoViewSet, {"post": "deliver"}),
    endpoint("api/v1/crypto/encrypted_messages", CryptoViewSet, {"get": "messages"}),
    endpoint("api/v1/crypto/encrypted_messages/clear", CryptoViewSet, {"post": "clear"}),
    endpoint("api/v1/custom_emojis", CustomEmojisViewSet, {"get": "list"}),
]
