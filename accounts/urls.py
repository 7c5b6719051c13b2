"""The API URLs of the accounts app; the URLs of OAuth and of the pages are in lists of their own."""

from django.urls import path, re_path

from accounts.collections.viewsets import CollectionsViewSet
from accounts.copies.viewsets import EmojiPicturesViewSet, ProfilePicturesViewSet
from accounts.devices.viewsets import CryptoViewSet
from accounts.emojis.viewsets import CustomEmojisViewSet
from accounts.pages.manifest import manifest
from accounts.pages.person import collection
from accounts.viewsets.accounts import AccountsViewSet
from accounts.viewsets.networks import DiscoveryViewSet, DomainBlocksViewSet, NetworksViewSet
from accounts.viewsets.oauth import EmailsViewSet
from accounts.viewsets.profile import PreferencesViewSet, ProfileViewSet
from social.api.routing import endpoint
from social.pages.views import page

ACCOUNT = "api/v1/accounts/<id>"
urlpatterns = [
    endpoint("api/v1/accounts", AccountsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/accounts/verify_credentials", ProfileViewSet, {"get": "verify_credentials"}),
    endpoint("api/v1/verify_credentials", ProfileViewSet, {"get": "verify_credentials"}),
    endpoint("api/v1/accounts/update_credentials", ProfileViewSet, {"put": "update_credentials"}),
    endpoint("api/v1/profile", ProfileViewSet, {"get": "retrieve", "put": "update"}),
    endpoint("api/v1/profile/avatar", ProfileViewSet, {"delete": "delete_avatar"}),
    endpoint("api/v1/profile/header", ProfileViewSet, {"delete": "delete_header"}),
    endpoint("api/v1/accounts/lookup", AccountsViewSet, {"get": "lookup"}),
    endpoint("api/v1/accounts/search", AccountsViewSet, {"get": "search"}),
    endpoint("api/v1/accounts/relationships", AccountsViewSet, {"get": "relationships"}),
    endpoint("api/v1/accounts/familiar_followers", NetworksViewSet, {"get": "familiar_followers"}),
    endpoint("api/v1/endorsements", NetworksViewSet, {"get": "endorsements"}),
    endpoint("api/v1/blocks", NetworksViewSet, {"get": "blocks"}),
    endpoint("api/v1/mutes", NetworksViewSet, {"get": "mutes"}),
    endpoint("api/v1/follow_requests", NetworksViewSet, {"get": "follow_requests"}),
    endpoint("api/v1/follow_requests/<account_id>/authorize", NetworksViewSet, {"post": "authorize"}),
    endpoint("api/v1/follow_requests/<account_id>/reject", NetworksViewSet, {"post": "reject"}),
    endpoint("api/v1/follows", AccountsViewSet, {"post": "follow_by_address"}),
    endpoint(f"{ACCOUNT}/followers", NetworksViewSet, {"get": "followers"}),
    endpoint(f"{ACCOUNT}/following", NetworksViewSet, {"get": "following"}),
    endpoint(f"{ACCOUNT}/endorsements", NetworksViewSet, {"get": "endorsements_of"}),
    endpoint(f"{ACCOUNT}/endorse", NetworksViewSet, {"post": "endorse"}),
    endpoint(f"{ACCOUNT}/unendorse", NetworksViewSet, {"post": "unendorse"}),
    endpoint(f"{ACCOUNT}/pin", NetworksViewSet, {"post": "pin"}),
    endpoint(f"{ACCOUNT}/unpin", NetworksViewSet, {"post": "unpin"}),
    endpoint(f"{ACCOUNT}/note", NetworksViewSet, {"post": "note"}),
    endpoint(f"{ACCOUNT}/remove_from_followers", NetworksViewSet, {"post": "remove_from_followers"}),
    endpoint(ACCOUNT, AccountsViewSet, {"get": "retrieve"}),
    *(
        endpoint(f"{ACCOUNT}/{name}", AccountsViewSet, {"post": name})
        for name in ("follow", "unfollow", "block", "unblock", "mute", "unmute")
    ),
    endpoint(f"{ACCOUNT}/identity_proofs", AccountsViewSet, {"get": "identity_proofs"}),
    endpoint(f"{ACCOUNT}/collections", CollectionsViewSet, {"get": "of_account"}),
    endpoint(f"{ACCOUNT}/in_collections", CollectionsViewSet, {"get": "with_account"}),
    endpoint("api/v1/collections", CollectionsViewSet, {"post": "create"}),
    endpoint(
        "api/v1/collections/<id>",
        CollectionsViewSet,
        {"get": "retrieve", "put": "update", "delete": "destroy"},
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
    endpoint("api/v1/domain_blocks", DomainBlocksViewSet, {"get": "list", "post": "create", "delete": "destroy"}),
    endpoint("api/v1/domain_blocks/preview", DomainBlocksViewSet, {"get": "preview"}),
    endpoint("api/v1/directory", DiscoveryViewSet, {"get": "directory"}),
    endpoint("api/v1/suggestions", DiscoveryViewSet, {"get": "suggested_accounts"}),
    endpoint("api/v2/suggestions", DiscoveryViewSet, {"get": "suggestions"}),
    endpoint("api/v1/suggestions/<account>", DiscoveryViewSet, {"delete": "dismiss"}),
    endpoint("api/v1/preferences", PreferencesViewSet, {"get": "retrieve"}),
    endpoint("api/v1/emails/confirmations", EmailsViewSet, {"post": "resend"}),
    endpoint("api/v1/emails/check_confirmation", EmailsViewSet, {"get": "check"}),
    endpoint("api/v1/custom_emojis", CustomEmojisViewSet, {"get": "list"}),
    endpoint("media_proxy/accounts/<account_id>/<picture>", ProfilePicturesViewSet, {"get": "retrieve"}),
    endpoint("media_proxy/emojis/<id>/<style>", EmojiPicturesViewSet, {"get": "retrieve"}),
    path("manifest", manifest, name="manifest"),
    re_path(r"^collections/(?P<id>[0-9]{1,19})/?$", page(collection), name="collection"),
]
