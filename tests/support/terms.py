"""Finds terms of a document that its @context does not define, because other servers may drop them."""

from typing import Any, Final

# The terms that https://www.w3.org/ns/activitystreams and https://w3id.org/security/v1 define, as far as sent documents use
# them. Mastodon leaves featuredCollections undefined, and so does this server.
_WORDS: Final = """
    Accept Add Announce Application Article Audio Block Collection CollectionPage Create Delete Document Event Flag Follow
    Group Image Like Link Mention Move Note Object OrderedCollection OrderedCollectionPage Organization Page Person
    Question Reject Remove Service Tombstone Undo Update Video
    actor anyOf attachment attributedTo cc closed content contentMap context duration endTime endpoints first followers
    following height href icon id image inReplyTo inbox instrument items last likes mediaType name nameMap next object oneOf
    orderedItems outbox partOf preferredUsername prev published replies result sharedInbox shares startTime summary summaryMap
    tag target to totalItems type updated url width
    owner publicKey publicKeyPem
    featuredCollections
"""
_VOCABULARY: Final = frozenset(_WORDS.split())
_BY_LANGUAGE: Final = ("contentMap", "nameMap", "summaryMap")


def check_terms(document: dict[str, Any]) -> None:
    """Fail if a member or type of an ActivityPub document, or of a nested one, is not defined by a context."""
    words = _unexplained(document, _VOCABULARY) if "@context" in document else set()
    assert not words, f"no @context defines {sorted(words)}: add each to TERMS in federation/documents/context.py"


def _unexplained(value: Any, known: frozenset[str]) -> set[str]:
    if isinstance(value, list):
        return {word for item in value for word in _unexplained(item, known)}
    if not isinstance(value, dict):
        return set()
    contexts = value.get("@context", ())
    for context in contexts if isinstance(contexts, list) else ():
        known |= context.keys() if isinstance(context, dict) else _NAMED.get(context, frozenset())
    kinds = value.get("type", [])
    words = {*value, *([kinds] if isinstance(kinds, str) else kinds)} - {"@context"}
    inner = [item for name, item in value.items() if name not in ("@context", *_BY_LANGUAGE)]
    return (words - known) | _unexplained(inner, known)


_NAMED: Final = {"https://purl.archive.org/socialweb/webfinger": frozenset({"webfinger"})}
