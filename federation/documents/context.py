"""JSON-LD contexts of documents: the common vocabularies, and the other terms that a document uses (contract, federation
section 3). No JSON-LD processor is needed, because other servers compare terms by name.
"""

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
"""The names that servers use for the public collection (contract, federation section 6)."""

_ID: Final = {"@type": "@id"}
_PREFIXES: Final = {
    "gts": "https://gotosocial.org/ns#",
    "ostatus": "http://ostatus.org#",
    "toot": "http://joinmastodon.org/ns#",
}


def _defined(base: str, *names: str, ids: bool = False) -> dict[str, dict[str, Any]]:
    """Return the definition of each of these terms of a vocabulary; with `ids`, the values of the terms are ids."""
    prefix = base.removesuffix(":")
    used = {prefix: _PREFIXES[prefix]} if prefix in _PREFIXES else {}
    return {name: {**used, name: {"@id": f"{base}{name}", **_ID} if ids else f"{base}{name}"} for name in names}


TERMS: Final[dict[str, dict[str, Any]]] = {
    **_defined("as:", "manuallyApprovesFollowers", "sensitive", "Hashtag"),
    **_defined("as:", "movedTo", "alsoKnownAs", ids=True),
    "PropertyValue": {
        "schema": "http://schema.org#",
        "PropertyValue": "schema:PropertyValue",
        "value": "schema:value",
    },
    **_defined("ostatus:", "atomUri", "inReplyToAtomUri", "conversation"),
    "focalPoint": {
        "toot": "http://joinmastodon.org/ns#",
        "focalPoint": {"@container": "@list", "@id": "toot:focalPoint"},
    },
    **_defined(
        "gts:",
        *("interactionPolicy", "canQuote", "canLike", "canReply", "canAnnounce"),
        *("automaticApproval", "manualApproval", "always", "approvalRequired"),
        *("likeAuthorization", "replyAuthorization", "announceAuthorization", "approvedBy"),
        *("interactingObject", "interactionTarget"),
        ids=True,
    ),
    **_defined(
        "gts:",
        *("LikeRequest", "ReplyRequest", "AnnounceRequest"),
        *("LikeAuthorization", "ReplyAuthorization", "AnnounceAuthorization"),
    ),
    **_defined(
        "https://w3id.org/fep/7aa9#",
        *("FeaturedCollection", "FeaturedItem", "FeatureRequest", "FeatureAuthorization"),
    ),
    **_defined("https://w3id.org/fep/7aa9#", "canFeature", "topic", "featuredObject", "featureAuthorization", ids=True),
    **_defined("https://w3id.org/fep/044f#", "QuoteRequest", "QuoteAuthorization"),
    **_defined("https://w3id.org/fep/044f#", "quote", "quoteAuthorization", ids=True),
    **_defined("http://fedibird.com/ns#", "quoteUri"),
    **_defined("https://misskey-hub.net/ns#", "_misskey_quote"),
    **_defined("toot:", "claim", "devices", "fingerprintKey", "identityKey", "featured", "featuredTags", ids=True),
    **_defined(
        "toot:",
        *("Device", "Ed25519Signature", "Ed25519Key", "Curve25519Key", "EncryptedMessage"),
        *("publicKeyBase64", "deviceId", "messageFranking", "messageType", "cipherText"),
        *("Emoji", "blurhash", "discoverable", "indexable", "memorial", "suspended"),
        *("showFeatured", "showMedia", "showRepliesInMedia", "votersCount"),
    ),
    "attributionDomains": {
        "toot": "http://joinmastodon.org/ns#",
        "attributionDomains": {"@id": "toot:attributionDomains", "@container": "@set"},
    },
}
"""Terms that are not in the common vocabularies, each with its complete definition."""

AUTHOR_MEMBERS: Final = {"spoiler_text": "summary"}
"""Members of a post's document, keyed by the column of `AuthorColumns` whose text they contain."""


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


def build_activity(
    kind: str, uri: str, actor_uri: str, target: object, terms: Iterable[str] = (), /, **members: object
) -> dict[str, Any]:
    """Return an activity about `target`, with its @context (`terms` as in `with_context`) and the additional `members`."""
    return with_context({"id": uri, "type": kind, "actor": actor_uri, **members, "object": target}, terms)


def followers_url_of(author: Author) -> str:
    """Return the id of the followers collection of a local author."""
    return f"{author.uri}/followers"


def addresses(visibility: str, followers_url: str, mentioned: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return `to` and `cc` of a post; `mentioned` are the ids of the accounts that the post addresses."""
    people = list(dict.fromkeys(mentioned))
    if is_listed(visibility):
        return [PUBLIC], [followers_url, *people]
    if visibility in OPEN_VISIBILITIES:
        return [followers_url], [PUBLIC, *people]
    if visibility in FOLLOWER_VISIBILITIES:
        return [followers_url], people
    return people, []


def visibility_of(to: Sequence[str], cc: Sequence[str], followers_url: str) -> Visibility:
    """Return the visibility that the addressing expresses: direct, unless it names the public or the followers collection."""
    return received_visibility(
        in_to=not PUBLIC_NAMES.isdisjoint(to),
        in_cc=not PUBLIC_NAMES.isdisjoint(cc),
        followers=bool(followers_url) and (followers_url in to or followers_url in cc),
    )
