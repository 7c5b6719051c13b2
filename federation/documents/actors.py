"""Documents of local accounts and emojis for other servers (contract, federation sections 4 and 5)."""

from datetime import UTC
from typing import Any

from django.conf import settings

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, Tag
from accounts.policies.featuring import Audience, featuring_audience
from accounts.serializers.account import emoji_urls
from federation.documents.context import PUBLIC, SECURITY, WEBFINGER, with_context
from social.kernel import clock, links
from social.kernel.media import storage
from social.kernel.text.scan import Kind, scan

SHARED_INBOX = "/inbox"
_TERMS = (
    *("manuallyApprovesFollowers", "featured", "featuredTags", "alsoKnownAs", "movedTo", "PropertyValue"),
    *("discoverable", "suspended", "memorial", "indexable", "attributionDomains"),
    *("showFeatured", "showMedia", "showRepliesInMedia"),
    *("interactionPolicy", "canFeature", "canQuote", "automaticApproval", "manualApproval"),
    "devices",
)


def featured_url(account: Account) -> str:
    """Return the address of the collection of an account's pinned posts."""
    return f"{account.uri}/collections/featured"


def devices_url(account: Account) -> str:
    """Return the address of the collection of an account's devices for end-to-end encryption."""
    return f"{account.uri}/collections/devices"


def actor(account: Account, public_key_pem: str, emojis: list[CustomEmoji]) -> dict[str, Any]:
    """Return the actor document of a local account, with the custom `emojis` in its texts. The document of a suspended account
    has no profile texts or pictures.
    """
    uri, suspended = account.uri, account.suspended
    hashtags = dict.fromkeys(token.name for token in scan(account.note) if token.kind is Kind.HASHTAG)
    fields = [{"type": "PropertyValue", "name": item["name"], "value": item["html"]} for item in account.fields]
    document: dict[str, Any] = {
        "id": uri,
        "type": account.actor_type,
        "following": f"{uri}/following",
        "followers": f"{uri}/followers",
        "inbox": f"{uri}/inbox",
        "outbox": f"{uri}/outbox",
        "featured": featured_url(account),
        "featuredTags": f"{uri}/collections/tags",
        "featuredCollections": links.numbered_uri(account.id, "featured_collections"),
        "interactionPolicy": {"canFeature": {"automaticApproval": [_may_feature(account)]}},
        "devices": devices_url(account),
        "preferredUsername": account.username,
        "name": account.username if suspended else account.display_name or account.username,
        "webfinger": f"{account.username}@{settings.LOCAL_DOMAIN}",
        "summary": "" if suspended else account.note_html,
        "url": links.profile_url(account.username),
        "manuallyApprovesFollowers": account.locked,
        "discoverable": bool(account.discoverable) and not suspended,
        "indexable": account.indexable and not suspended,
        "memorial": account.memorial,
        "showFeatured": account.show_featured,
        "showMedia": account.show_media,
        "showRepliesInMedia": account.show_media_replies,
        "published": f"{account.created_at.astimezone(UTC):%Y-%m-%d}T00:00:00Z",
        "publicKey": {"id": f"{uri}#main-key", "owner": uri, "publicKeyPem": public_key_pem},
        "tag": [] if suspended else [*map(emoji_object, emojis), *map(hashtag, hashtags)],
        "attachment": [] if suspended else fields,
        "endpoints": {"sharedInbox": links.web_url(SHARED_INBOX)},
    }
    if suspended:
        document["suspended"] = True
    else:
        document |= _shown_unless_suspended(account)
    return with_context(document, _terms_of(document), SECURITY, WEBFINGER)


def _may_feature(account: Account) -> str:
    uris = {Audience.PUBLIC: PUBLIC, Audience.FOLLOWERS: f"{account.uri}/followers"}
    return uris.get(featuring_audience(account), account.uri)


def _shown_unless_suspended(account: Account) -> dict[str, Any]:
    members = {
        "alsoKnownAs": account.also_known_as,
        "movedTo": account.moved_to.uri if account.moved_to is not None else None,
        "attributionDomains": account.attribution_domains,
        "icon": image(account.avatar, account.avatar_description) if account.avatar else None,
        "image": image(account.header, account.header_description) if account.header else None,
    }
    return {name: value for name, value in members.items() if value}


def _terms_of(document: dict[str, Any]) -> list[str]:
    terms = [*_TERMS, *sorted({item["type"] for item in document["tag"]})]
    if "Emoji" in terms or not {"icon", "image"}.isdisjoint(document):
        terms.append("focalPoint")
    return terms


def instance_actor(account: Account, public_key_pem: str) -> dict[str, Any]:
    """Return the document of the actor that represents this server and signs its fetches."""
    uri = account.uri
    document = {
        "id": uri,
        "type": "Application",
        "inbox": f"{uri}/inbox",
        "outbox": f"{uri}/outbox",
        "preferredUsername": account.username,
        "url": links.web_url("/about/more?instance_actor=true"),
        "manuallyApprovesFollowers": True,
        "publicKey": {"id": f"{uri}#main-key", "owner": uri, "publicKeyPem": public_key_pem},
        "endpoints": {"sharedInbox": links.web_url(SHARED_INBOX)},
    }
    return with_context(document, _TERMS[:-1], SECURITY, WEBFINGER)


def hashtag(name: str) -> dict[str, str]:
    """Return a Hashtag for a post or a biography."""
    return {"type": "Hashtag", "href": links.tag_url(name), "name": f"#{name}"}


def featured_tag(account: Account, tag: Tag, spelling: str) -> dict[str, str]:
    """Return the Hashtag that an account features on its profile, written as `spelling` (contract, federation section 2)."""
    return {"type": "Hashtag", "href": links.tagged_url(account.page_url, tag.name), "name": f"#{spelling}"}


def image(path: str, description: str = "") -> dict[str, str]:
    """Return the Image object of a picture that is stored on this server."""
    picture = {"type": "Image", "mediaType": media_type_of(path), "url": storage.url(path)}
    return picture | ({"summary": description} if description else {})


def media_type_of(path: str) -> str:
    """Return the media type of a picture that this server has made, according to its file extension."""
    ending = path.rpartition(".")[2].lower()
    return {"png": "image/png", "gif": "image/gif", "webp": "image/webp"}.get(ending, "image/jpeg")


def emoji_object(emoji: CustomEmoji) -> dict[str, Any]:
    """Return the Emoji object of a local emoji, as it appears in the `tag` of posts and accounts."""
    url, _still = emoji_urls(emoji)
    return {
        "id": links.web_url(f"/emojis/{emoji.id}"),
        "type": "Emoji",
        "name": f":{emoji.shortcode}:",
        "updated": clock.iso(emoji.updated_at),
        "icon": {"type": "Image", "mediaType": media_type_of(url), "url": url},
    }
