"""The API URLs of the accounts app; the URLs of OAuth and of the pages are in lists of their own."""

from django.urls import path

from accounts.collections.urls import urlpatterns as collections
from accounts.copies.viewsets import ProfilePicturesViewSet
from accounts.devices.urls import urlpatterns as devices
from accounts.emojis.viewsets import CustomEmojisViewSet, EmojiPicturesViewSet
from accounts.identity.viewsets import EmailsViewSet, SignUpViewSet
from accounts.pages.server_picture import coloured_icon, custom_css, manifest
from accounts.transfers.urls import api_urlpatterns as transfers
from accounts.viewsets.accounts import AccountsViewSet
from accounts.viewsets.networks import DiscoveryViewSet, DomainBlocksViewSet, NetworksViewSet
from accounts.viewsets.profile import PreferencesViewSet, ProfileViewSet
from social.api.routing import endpoint

ACCOUNT = "api/v1/accounts/<id>"
urlpatterns = [
    *collections,
    endpoint("media_proxy/accounts/<account_id>/<picture>", ProfilePicturesViewSet, {"get": "retrieve"}),
    *devices,
    endpoint("api/v1/custom_emojis", CustomEmojisViewSet, {"get": "list"}),
    endpoint("media_proxy/emojis/<id>/<style>", EmojiPicturesViewSet, {"get": "retrieve"}),
    *transfers,
    endpoint("api/v1/accounts", SignUpViewSet, {"get": "list", "post": "create"}),
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
    endpoint("api/v1/domain_blocks", DomainBlocksViewSet, {"get": "list", "post": "create", "delete": "destroy"}),
    endpoint("api/v1/domain_blocks/preview", DomainBlocksViewSet, {"get": "preview"}),
    endpoint("api/v1/directory", DiscoveryViewSet, {"get": "directory"}),
    endpoint("api/v1/suggestions", DiscoveryViewSet, {"get": "suggested_accounts"}),
    endpoint("api/v2/suggestions", DiscoveryViewSet, {"get": "suggestions"}),
    endpoint("api/v1/suggestions/<account>", DiscoveryViewSet, {"delete": "dismiss"}),
    endpoint("api/v1/preferences", PreferencesViewSet, {"get": "retrieve"}),
    endpoint("api/v1/emails/confirmations", EmailsViewSet, {"post": "resend"}),
    endpoint("api/v1/emails/check_confirmation", EmailsViewSet, {"get": "check"}),
    path("manifest", manifest, name="manifest"),
    path("custom.css", custom_css, name="custom_css"),
    path("icon.svg", coloured_icon, name="coloured_icon"),
]
