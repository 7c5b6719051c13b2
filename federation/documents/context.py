"""Contexts of documents: the common vocabularies, and the terms that a document uses beyond them.

Source: contract, federation section 3. No JSON-LD processor is needed, because all servers of the network compare terms by
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from statuses.models import Visibility
from statuses.policies.posts import Author
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, OPEN_VISIBILITIES, is_listed, received_visibility

ACTIVITY_STREAMS: Final = "https://www.w3.org/ns/activitystreams"
SECURITY: Final = "https://w3id.org/security/v1"
WEBFINGER: Final = "https://purl.archive.org/socialweb/webfinger"
PUBLIC: Final = "https://www.w3.org/ns/activitystreams#Public"
PUBLIC_NAMES: Final = frozenset({PUBLIC, "as:Public", "Public"})
"""Spellings of the public collection (contract, federation section 6)."""

_ID: Final = {"@type": "@id"}
TERMS: Final[dict[str, dict[str, Any]]] = {
    "manuallyApprovesFollowers": {"manuallyApprovesFollowers": "as:manuallyApprovesFollowers"},
    "sensitive": {"sensitive": "as:sensitive"},
    "Hashtag": {"Hashtag": "as:Hashtag"},
    "movedTo": {"movedTo": {"@id": "as:movedTo", **_ID}},
    "alsoKnownAs": {"alsoKnownAs": {"@id": "as:alsoKnownAs", **_ID}},
    "PropertyValue": {
        "schema": "http://schema.org#",
        "PropertyValue": "schema:PropertyValue",
        "value": "schema:value",
    },
    "atomUri": {
        "ostatus": "http://ostatus.org#",
        "atomUri": "ostatus:atomUri",
    },
    "inReplyToAtomUri": {"ostatus": "http://ostatus.org#", "inReplyToAtomUri": "ostatus:inReplyToAtomUri"},
    "conversation": {"ostatus": "http://ostatus.org#", "conversation": "ostatus:conversation"},
    "focalPoint": {
        "toot": "http://joinmastodon.org/ns#",
        "focalPoint": {"@container": "@list", "@id": "toot:focalPoint"},
    },
    **{
        name: {"gts": "https://gotosocial.org/ns#", name: {"@id": f"gts:{name}", **_ID}}
        for name in (
            *("interactionPolicy", "canQuote", "canLike", "canReply", "canAnnounce"),
            *("automaticApproval", "manualApproval", "always", "approvalRequired"),
            *("likeAuthorization", "replyAuthorization", "announceAuthorization", "approvedBy"),
        )
    },
    "canFeature": {"canFeature": {"@id": "https://w3id.org/fep/7aa9#canFeature", **_ID}},
    **{
        name: {name: f"https://w3id.org/fep/7aa9#{name}"}
        for name in ("FeaturedCollection", "FeaturedItem", "FeatureRequest", "FeatureAuthorization")
    },
    **{
        name: {name: {"@id": f"https://w3id.org/fep/7aa9#{name}", **_ID}}
        for name in ("topic", "featuredObject", "featureAuthorization")
    },
    "quote": {"quote": {"@id": "https://w3id.org/fep/044f#quote", **_ID}},
    "quoteAuthorization": {"quoteAuthorization": {"@id": "https://w3id.org/fep/044f#quoteAuthorization", **_ID}},
    **{name: {name: f"https://w3id.org/fep/044f#{name}"} for name in ("QuoteRequest", "QuoteAuthorization")},
    **{
        name: {"gts": "https://gotosocial.org/ns#", name: {"@id": f"gts:{name}", **_ID}}
        for name in ("interactingObject", "interactionTarget")
    },
    **{
        name: {"gts": "https://gotosocial.org/ns#", name: f"gts:{name}"}
        for name in (
            *("LikeRequest", "ReplyRequest", "AnnounceRequest"),
            *("LikeAuthorization", "ReplyAuthorization", "AnnounceAuthorization"),
        )
    },
    **{
        name: {"toot": "http://joinmastodon.org/ns#", name: {"@id": f"toot:{name}", **_ID}}
        for name in ("claim", "devices", "fingerprintKey", "identityKey")
    },
    **{
        name: {"toot": "http://joinmastodon.org/ns#", name: f"toot:{name}"}
        for name in (
            *("Device", "Ed25519Signature", "Ed25519Key", "Curve25519Key", "EncryptedMessage"),
            *("publicKeyBase64", "deviceId", "messageFranking", "messageType", "cipherText"),
        )
    },
    "quoteUri": {"quoteUri": "http://fedibird.com/ns#quoteUri"},
    "_misskey_quote": {"_misskey_quote": "https://misskey-hub.net/ns#_misskey_quote"},
    "featured": {"toot": "http://joinmastodon.org/ns#", "featured": {"@id": "toot:featured", **_ID}},
    "featuredTags": {"toot": "http://joinmastodon.org/ns#", "featuredTags": {"@id": "toot:featuredTags", **_ID}},
    "attributionDomains": {
        "toot": "http://joinmastodon.org/ns#",
        "attributionDomains": {"@id": "toot:attributionDomains", "@container": "@set"},
    },
    **{
        name: {"toot": "http://joinmastodon.org/ns#", name: f"toot:{name}"}
        for name in (
            "Emoji",
            "blurhash",
            "discoverable",
            "indexable",
            "memorial",
            "suspended",
            "showFeatured",
            "showMedia",
            "showRepliesInMedia",
            "votersCount",
        )
    },
}
"""Terms beyond the vocabularies, each with its complete definition."""

AUTHOR_MEMBERS: Final = {"spoiler_text": "summary"}
"""Members of the document of a post by the columns of its author that they have; each is a text."""


def all_terms() -> list[str]:
    """Return all terms, for a document that may use any of them."""
    return sorted(TERMS)


def with_context(document: dict[str, Any], terms: Iterable[str] = (), *vocabularies: str) -> dict[str, Any]:
    """Return the document with its @context in front. `terms` are keys of TERMS, each defined once."""
    defined: dict[str, Any] = {}
    for term in terms:
        defined |= TERMS[term]
    names: list[Any] = [ACTIVITY_STREAMS, *vocabularies]
    if defined:
        names.append(dict(sorted(defined.items())))
    return {"@context": names if len(names) > 1 else ACTIVITY_STREAMS, **document}


def followers_url_of(author: Author) -> str:
    """Return the id of the followers collection of a local author."""
    return f"{author.uri}/followers"


def addresses(visibility: str, followers_url: str, mentioned: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return `to` and `cc` of a post; `mentioned` are the ids of the accounts that it addresses."""
    people = list(dict.fromkeys(mentioned))
    if is_listed(visibility):
        return [PUBLIC], [followers_url, *people]
    if visibility in OPEN_VISIBILITIES:
        return [followers_url], [PUBLIC, *people]
    if visibility in FOLLOWER_VISIBILITIES:
        return [followers_url], people
    return people, []


def visibility_of(to: Sequence[str], cc: Sequence[str], followers_url: str) -> Visibility:
    """Return the visibility that the addressing expresses: direct, unless it contains the public collection or the author's
    followers collection.
    """
    return received_visibility(
        in_to=not PUBLIC_NAMES.isdisjoint(to),
        in_cc=not PUBLIC_NAMES.isdisjoint(cc),
        followers=bool(followers_url) and (followers_url in to or followers_url in cc),
    )
