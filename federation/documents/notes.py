"""How our posts look to other servers (contract, federation section 5)."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from federation.documents.actors import hashtag, iso
from federation.documents.addressing import addresses
from federation.documents.context import PUBLIC, with_context
from federation.documents.emojis import emoji_object
from federation.documents.loading import Post, followers_url_of, uri_of
from social.kernel import links
from social.kernel.ids import moment_of
from social.kernel.media import storage
from statuses.models import MediaAttachment, Quote, QuoteState
from statuses.policies.quotes import Group, automatic_groups

_QUOTE_TERMS = ("quote", "_misskey_quote", "quoteUri", "quoteAuthorization")
_DEFAULT_TYPES = {"image": "image/jpeg", "gifv": "video/mp4", "video": "video/mp4", "audio": "audio/mpeg"}


def note(post: Post) -> dict[str, Any]:
    """A post without its @context, as it stands inside a Create."""
    status = post.status
    uri = uri_of(status)
    to, cc = addresses(
        status.visibility, followers_url_of(post.author), [mention.account.uri for mention in post.mentions]
    )
    return {
        "id": uri,
        "type": "Note",
        "summary": status.spoiler_text or None,
        "inReplyTo": post.parent_uri,
        "published": iso(status.created_at),
        **({"updated": iso(status.edited_at)} if status.edited_at is not None else {}),
        "url": links.status_url(post.author.username, status.id),
        "attributedTo": post.author.uri,
        "to": to,
        "cc": cc,
        "sensitive": status.sensitive or post.author.sensitized_at is not None,
        "atomUri": uri,
        "inReplyToAtomUri": post.parent_uri,
        "conversation": _conversation(post),
        "content": status.content,
        **({"contentMap": {status.language: status.content}} if status.language else {}),
        **_quote(post),
        "interactionPolicy": {"canQuote": {"automaticApproval": _may_quote(post)}},
        "attachment": [_attachment(media) for media in post.media],
        "tag": _tags(post),
        "replies": _replies(post, uri),
        "likes": {"id": f"{uri}/likes", "type": "Collection", "totalItems": post.favourites},
        "shares": {"id": f"{uri}/shares", "type": "Collection", "totalItems": post.reblogs},
    }


def note_terms(document: dict[str, Any]) -> list[str]:
    """The terms a Note uses beyond the vocabularies."""
    terms = ["sensitive", "atomUri", "inReplyToAtomUri", "conversation"]
    terms += ["interactionPolicy", "canQuote", "automaticApproval", "manualApproval"]
    terms += [name for name in _QUOTE_TERMS if name in document]
    kinds = {item["type"] for item in document["tag"]}
    terms += sorted(kinds - {"Mention"})
    if any("blurhash" in item for item in document["attachment"]):
        terms.append("blurhash")
    if any("focalPoint" in item for item in document["attachment"]):
        terms.append("focalPoint")
    return terms


def note_document(post: Post) -> dict[str, Any]:
    """A post as it is fetched."""
    document = note(post)
    return with_context(document, note_terms(document))


def _may_quote(post: Post) -> list[str]:
    """Whose quotes are approved automatically: everybody's, the followers', else the author's own."""
    groups = automatic_groups(post.status.quote_policy)
    if groups & Group.PUBLIC:
        return [PUBLIC]
    return [followers_url_of(post.author) if groups & Group.FOLLOWERS else post.author.uri]


def _quote(post: Post) -> dict[str, Any]:
    """What the post quotes, in the words of FEP-044f and those before it; a Tombstone when that is deleted."""
    quote = post.quote
    if quote is None:
        return {}
    quoted = quote.quoted_status
    uri = quote.quoted_uri if quoted is None else uri_of(quoted)
    shown: dict[str, Any] = {"quote": {"type": "Tombstone"}}
    if uri is not None and not (quoted is not None and quoted.is_deleted):
        shown = {"quote": uri, "_misskey_quote": uri, "quoteUri": uri}
    authorization = _authorization(quote)
    return shown if authorization is None else {**shown, "quoteAuthorization": authorization}


def _authorization(quote: Quote) -> str | None:
    """The id of the authorization of an accepted quote: another server's, or ours for a post of this server."""
    if quote.state != QuoteState.ACCEPTED:
        return None
    quoted = quote.quoted_status
    if quote.approval_uri is not None or quoted is None or not quoted.local:
        return quote.approval_uri
    return f"{quoted.account.uri}/quote_authorizations/{quote.id}"


def _conversation(post: Post) -> str:
    if post.status.conversation_uri:
        return post.status.conversation_uri
    root = post.status.thread_root_id
    day = moment_of(root).date().isoformat()
    return f"tag:{settings.LOCAL_DOMAIN},{day}:objectId={root}:objectType=Conversation"


def _tags(post: Post) -> list[dict[str, Any]]:
    mentions = [
        {"type": "Mention", "href": mention.account.uri, "name": f"@{mention.account.acct}"}
        for mention in post.mentions
        if not mention.silent
    ]
    return [*mentions, *(hashtag(name) for name in post.tags), *map(emoji_object, post.emojis)]


def _attachment(media: MediaAttachment) -> dict[str, Any]:
    original = media.meta.get("original") or {}
    document: dict[str, Any] = {
        "type": "Document",
        "mediaType": media.content_type or _DEFAULT_TYPES.get(media.type, "application/octet-stream"),
        "url": storage.url(media.file) if media.file else media.remote_url,
        "name": media.description,
    }
    if media.blurhash:
        document["blurhash"] = media.blurhash
    focus = media.meta.get("focus")
    if focus:
        document["focalPoint"] = [focus["x"], focus["y"]]
    for name in ("width", "height"):
        if original.get(name):
            document[name] = original[name]
    return document


def _replies(post: Post, uri: str) -> dict[str, Any]:
    collection = f"{uri}/replies"
    return {
        "id": collection,
        "type": "Collection",
        "first": {
            "type": "CollectionPage",
            "partOf": collection,
            "next": f"{collection}?page=true",
            "items": list(post.self_replies),
        },
    }
