"""Documents of local posts for other servers (contract, federation section 5)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from accounts.emojis.models import CustomEmoji
from accounts.emojis.queries import EmojiLookup
from accounts.models.account import acct_of
from accounts.queries.relations import load_nearby_pairs
from federation.documents.actors import emoji_object, hashtag, image
from federation.documents.context import AUTHOR_MEMBERS, PUBLIC, TERMS, addresses, followers_url_of, with_context
from federation.documents.featured_collections import TERMS as COLLECTION_TERMS
from federation.documents.featured_collections import load_linked
from federation.documents.policies import TERMS as POLICY_TERMS
from federation.documents.policies import written_rules
from social.kernel import clock, links
from social.kernel.media import storage
from statuses.models import Interaction, MediaAttachment, MediaType, Poll, QuoteState
from statuses.policies.polls import has_ended
from statuses.policies.posts import Post, PostBody
from statuses.policies.quotes import Group, automatic_groups
from statuses.policies.visibility import allowed_visibility
from statuses.queries.posts import load_bodies, load_polls, load_posts
from statuses.queries.threads import load_self_replies

_TERMS: Final = (
    *("inReplyToAtomUri", "conversation", "votersCount"),
    *("quote", "_misskey_quote", "quoteUri", "quoteAuthorization"),
    *("canFeature", "canQuote", "automaticApproval", "manualApproval"),
)
_DEFAULT_TYPES = {"image": "image/jpeg", "gifv": "video/mp4", "video": "video/mp4", "audio": "audio/mpeg"}


SELF_REPLIES: Final = 5
"""Maximum number of replies by the author that the document of a post lists (contract, federation section 5)."""


def load_notes(posts: Iterable[Post]) -> dict[int, dict[str, Any]]:
    """Return the documents of local posts (not of boosts), keyed by id, without @context.

    Takes at most five queries for any number of posts; one more if an author is limited, one if a post has a poll, and two if a
    post links to a collection.
    """
    loaded = _Loaded(posts)
    return {number: loaded.note(number) for number in loaded.bodies}


class _Loaded:
    def __init__(self, posts: Iterable[Post]) -> None:
        self.posts = {post.id: post for post in posts}
        self.bodies = load_bodies(self.posts)
        bodies = self.bodies.values()
        answered_ids = {post.in_reply_to_id for post in self.posts.values() if post.in_reply_to_id is not None}
        above = load_posts(answered_ids.union(body.thread_root_id for body in bodies))
        self.above = {post.id: post for post in above}
        self.emojis = EmojiLookup((None, body.texts(local=True)) for body in bodies)
        self.replies = load_self_replies(self.posts, SELF_REPLIES)
        self.polls = load_polls([post.id for post in self.posts.values() if post.poll_id is not None])
        self.collections = load_linked({one for post in self.posts.values() for one in post.collection_ids})
        limited = {post.account_id for post in self.posts.values() if post.author.is_limited}
        self.nearby = load_nearby_pairs({account["id"] for body in bodies for account in body.addressed}, limited)

    def note(self, number: int) -> dict[str, Any]:
        post, body, poll = self.posts[number], self.bodies[number], self.polls.get(number)
        parent, root = self.above.get(post.in_reply_to_id or 0), self.above.get(body.thread_root_id, post)
        collections = [self.collections[one] for one in post.collection_ids if one in self.collections]
        # A limited author addresses only followers (contract, federation section 6).
        addressed = [
            uri
            for account in body.addressed
            if not post.author.is_limited or (account["id"], post.account_id) in self.nearby
            for uri in (account["uri"], account["group_followers"])
            if uri
        ]
        uri, author = post.object_uri, post.author
        parent_uri = body.in_reply_to_uri if parent is None else parent.object_uri
        visibility = allowed_visibility(post.visibility, limited=author.is_limited)
        conversation = body.conversation_uri or context_uri(root.account_id, root.id)
        # A local-only post has a document only in archives of its author, where it is addressed to nobody.
        to, cc = ([], []) if post.local_only else addresses(visibility, followers_url_of(author), addressed)
        return {
            "id": uri,
            "type": "Note" if poll is None else "Question",
            **{member: getattr(body, name) or None for name, member in AUTHOR_MEMBERS.items()},
            "inReplyTo": parent_uri,
            "published": clock.iso_seconds(post.created_at),
            **({"updated": clock.iso(body.edited_at)} if body.edited_at is not None else {}),
            "url": links.status_url(author.username, post.id),
            "attributedTo": author.uri,
            "to": to,
            "cc": cc,
            "sensitive": post.sensitive or author.is_sensitized,
            "atomUri": uri,
            "inReplyToAtomUri": parent_uri,
            "conversation": conversation,
            **({"context": conversation} if conversation.startswith(("https://", "http://")) else {}),
            "content": body.content,
            **({"contentMap": {post.language: body.content}} if post.language else {}),
            **({} if poll is None else _question(poll)),
            **_quote(post, body),
            **_approval(body),
            "interactionPolicy": {
                "canQuote": {"automaticApproval": _may_quote(post)},
                **written_rules(post, [account["uri"] for account in body.addressed]),
            },
            "attachment": [_attachment(media) for media in body.media],
            "tag": [*_tags(body, self.emojis.find(None, *body.texts(local=True))), *collections],
            "replies": _replies(uri, author.username, self.replies[number]),
            "likes": {"id": f"{uri}/likes", "type": "Collection", "totalItems": post.favourites_count},
            "shares": {"id": f"{uri}/shares", "type": "Collection", "totalItems": post.reblogs_count},
        }


def note_terms(document: dict[str, Any]) -> list[str]:
    """Return the JSON-LD terms that the document of a post uses (contract, federation section 3)."""
    terms = [*_TERMS, *(name for name in document if name in TERMS)]
    terms += sorted({item["type"] for item in document["tag"]} - {"Mention"})
    if "FeaturedCollection" in terms:
        terms += COLLECTION_TERMS
    if len(document["interactionPolicy"]) > 1:
        terms += POLICY_TERMS
    if document["attachment"]:
        terms.append("blurhash")
    if document["attachment"] or "Emoji" in terms:
        terms.append("focalPoint")
    return terms


def note_document(note: dict[str, Any]) -> dict[str, Any]:
    return with_context(note, note_terms(note))


def _question(poll: Poll) -> dict[str, Any]:
    ended = has_ended(poll.expires_at, clock.now())
    counts_shown = ended or not poll.hide_totals
    end = {} if poll.expires_at is None else {"endTime": clock.iso_seconds(poll.expires_at)}
    options = [
        {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": count if counts_shown else None}}
        for name, count in zip(poll.options, poll.tallies, strict=True)
    ]
    return {
        **end,
        **({"closed": end["endTime"]} if ended else {}),
        **({} if poll.voters_count is None else {"votersCount": poll.voters_count}),
        "anyOf" if poll.multiple else "oneOf": options,
    }


def _may_quote(post: Post) -> list[str]:
    groups = automatic_groups(post.quote_policy)
    if groups & Group.PUBLIC:
        return [PUBLIC]
    return [followers_url_of(post.author) if groups & Group.FOLLOWERS else post.author.uri]


def _quote(post: Post, body: PostBody) -> dict[str, Any]:
    """Return the members that name the quoted post: `quote` (FEP-044f) and two older members with the same id."""
    if body.quote is None:
        return {}
    quoted = post.quoted
    uri = body.quote["quoted_uri"] if quoted is None else quoted.object_uri
    members: dict[str, Any] = {"quote": {"type": "Tombstone"}}
    if uri is not None and not (quoted is not None and quoted.is_deleted):
        members = {"quote": uri, "_misskey_quote": uri, "quoteUri": uri}
    authorization = _authorization(post, body.quote)
    return members if authorization is None else {**members, "quoteAuthorization": authorization}


def _authorization(post: Post, quote: dict[str, Any]) -> str | None:
    """Return the id of the authorization that the quoted author's server has issued for an accepted quote, or None."""
    if post.quote_state != QuoteState.ACCEPTED:
        return None
    quoted, approval_uri = post.quoted, quote["approval_uri"]
    if approval_uri is not None or quoted is None or not quoted.local:
        return None if approval_uri is None else str(approval_uri)
    return quote_authorization_uri(quoted.author.uri, quote["id"])


def _approval(body: PostBody) -> dict[str, Any]:
    """Return the members that name the authorization of an approved reply. The parent author's server has issued the
    authorization.
    """
    if body.approval is None:
        return {}
    own = authorization_uri(body.approval["author_uri"], Interaction.REPLY, body.approval["id"])
    uri = body.approval["approval_uri"] or own
    # GoToSocial up to 0.20 reads `approvedBy`.
    return {"replyAuthorization": uri, "approvedBy": uri}


_PLACES: Final = {Interaction.FAVOURITE: "like", Interaction.REPLY: "reply", Interaction.REBLOG: "announce"}


def authorization_uri(author_uri: str, kind: Interaction, number: int) -> str:
    """Return the id of this server's authorization of an interaction; `number` is the id of the interaction request."""
    return f"{author_uri}/{_PLACES[kind]}_authorizations/{number}"


def quote_authorization_uri(author_uri: str, number: int) -> str:
    """Return the id of this server's authorization of the quote with the id `number` (contract, federation section 2)."""
    return f"{author_uri}/quote_authorizations/{number}"


def context_uri(account_id: int, status_id: int) -> str:
    """Return the id of the conversation that begins with a post of an account (contract, federation section 2)."""
    return links.web_url(f"/contexts/{account_id}-{status_id}")


def _tags(body: PostBody, emojis: Iterable[CustomEmoji]) -> list[dict[str, Any]]:
    mentions = [
        {"type": "Mention", "href": account["uri"], "name": f"@{acct_of(account['username'], account['domain'])}"}
        for account in body.mentions
    ]
    return [*mentions, *map(hashtag, body.tags), *map(emoji_object, emojis)]


def _attachment(media: MediaAttachment) -> dict[str, Any]:
    original = media.meta.get("original") or {}
    document: dict[str, Any] = {
        "type": "Document",
        "mediaType": media.content_type or _DEFAULT_TYPES.get(media.type, "application/octet-stream"),
        "url": storage.url(media.file) if media.file else media.remote_url,
        "name": media.description,
        "blurhash": media.blurhash,
    }
    focus = media.meta.get("focus")
    if focus:
        document["focalPoint"] = [focus["x"], focus["y"]]
    document |= {name: original[name] for name in ("width", "height") if original.get(name)}
    if original.get("duration"):
        document["duration"] = f"PT{original['duration']:.6f}".rstrip("0").rstrip(".") + "S"
    if media.preview and media.type != MediaType.IMAGE:
        document["icon"] = image(media.preview)
    return document


def _replies(uri: str, username: str, self_replies: Sequence[int]) -> dict[str, Any]:
    """Return the collection of replies to a post. The collection lists the author's first replies; its next page has the other
    replies.
    """
    collection = f"{uri}/replies"
    following = f"min_id={self_replies[-1]}" if self_replies else "only_other_accounts=true"
    return {
        "id": collection,
        "type": "Collection",
        "first": {
            "type": "CollectionPage",
            "partOf": collection,
            "next": f"{collection}?{following}&page=true",
            "items": [links.status_uri(username, number) for number in self_replies],
        },
    }
