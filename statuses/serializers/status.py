"""The entity "Status" (contract, entities): a body that is the same for every viewer, and members that depend on the viewer.

The body may be cached encoded (`social.kernel.fragments`); counters and members that depend on the viewer never are. The
encoded parts are joined as bytes, so that a page of forty posts does not create forty dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import orjson

from accounts.models import CustomEmoji
from accounts.models.account import acct_of
from accounts.policies.relations import Relations
from accounts.queries.emojis import EmojiLookup
from accounts.serializers.account import CustomEmojiSerializer
from accounts.serializers.collection import CollectionSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from statuses.policies.posts import READ_COLUMNS, Post, PostBody, read_as_text
from statuses.policies.publishing import PLAIN_TEXT
from statuses.policies.quotes import (
    DELETED,
    Group,
    Permission,
    automatic_groups,
    manual_groups,
    permission,
    shown_state,
    shows_quoted,
)
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, shown_visibility
from statuses.queries.page import PostPage
from statuses.queries.threads import Context
from statuses.serializers.attachments import MediaAttachmentSerializer, PollSerializer


class MentionSerializer(EntitySerializer):
    """Mention: an account that a post mentions, as `statuses.queries.posts` reads it."""

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        username, domain = instance["username"], instance["domain"]
        return {
            "id": str(instance["id"]),
            "username": username,
            "url": links.profile_url(username) if domain is None else instance["url"] or instance["uri"],
            "acct": acct_of(username, domain),
        }


def body(post: Post, source: PostBody, emojis: EmojiLookup) -> dict[str, Any]:
    """Return the members of a post, which is not a boost, that are the same for every viewer."""
    return {
        "id": str(post.id),
        "created_at": clock.iso_ms(post.created_ms),
        "visibility": shown_visibility(post.visibility),
        "language": post.language,
        "uri": post.object_uri,
        "url": links.status_url(post.username, post.id) if post.local else source.url or post.uri,
        **_content(source, emojis.find(post.domain, *source.texts(local=post.local))),
    }


def _content(source: PostBody, emojis: Sequence[CustomEmoji]) -> dict[str, Any]:
    """Return the members that a boost has as well; for a boost they have the values of an empty body."""
    return {
        "content": source.content,
        **source.shown_columns,
        "edited_at": clock.iso_or_none(source.edited_at),
        "media_attachments": MediaAttachmentSerializer(source.media, many=True).data,
        "mentions": MentionSerializer(source.mentions, many=True).data,
        "tags": [{"name": name, "url": links.tag_url(name)} for name in source.tags],
        "emojis": CustomEmojiSerializer(emojis, many=True).data,
    }


def searched_text(source: PostBody) -> str:
    """Return the text that filters search: content warning, text, poll options and file descriptions, as plain text."""
    described = [media.description for media in source.media]
    return read_as_text(source.read_texts, source.content, *source.poll_options, *described)


def searched_text_of(entity: dict[str, Any]) -> str:
    """Return the same text as `searched_text` from an entity, even from an entity that an older release with fewer
    columns created.
    """
    options = [option["title"] for option in entity["poll"]["options"]] if entity["poll"] is not None else []
    described = [file["description"] for file in entity["media_attachments"]]
    return read_as_text([entity.get(name, "") for name in READ_COLUMNS], entity["content"], *options, *described)


def attached(post: Post, page: PostPage, cards: Mapping[int, bytes], quote: bytes = b"null") -> bytes:
    """Return card, poll, quote and collections of a post, encoded. These are separate entities, which change
    independently and may depend on the viewer.

    `cards` are the encoded preview cards by post id.
    """
    if not (cards or page.polls or post.quote_state or post.collection_ids):
        return _NO_ATTACHMENTS
    number = post.id
    return b'"card":%b,"poll":%b,"quote":%b,"tagged_collections":%b' % (
        cards.get(number, b"null"),
        _poll(post, page),
        quote,
        orjson.dumps(CollectionSerializer(page.linked_collections(post), many=True).data)
        if post.collection_ids
        else b"[]",
    )


def _poll(post: Post, page: PostPage) -> bytes:
    poll = page.polls.get(post.id)
    if poll is None:
        return b"null"
    context = {
        "viewer_id": page.viewer_id,
        "author_id": post.account_id,
        "own_votes": page.marks.votes.get(post.id, ()),
        "domain": post.domain,
        "emojis": page.emojis,
    }
    return orjson.dumps(PollSerializer(poll, context=context).data)


def marks(post: Post, page: PostPage) -> bytes:
    """Return the members that a post and its boosts share and that depend on the viewer, except `filtered`; never cached."""
    viewer_id, number, done = page.viewer_id, post.id, page.marks
    sensitive = post.sensitive or (post.author.is_sensitized and viewer_id != post.account_id)
    expected = permission(post, viewer_id, page.relations)
    if viewer_id is None:
        return _marks(post.quote_policy, expected, sensitive)
    return _marks(
        post.quote_policy,
        expected,
        sensitive,
        number in done.favourited,
        number in done.reblogged,
        number in done.bookmarked,
        number in done.muted,
    )


# Most pages need only a few dozen combinations.
@lru_cache(maxsize=4096)
def _marks(policy: int, expected: Permission, *flags: bool) -> bytes:
    names = ("sensitive", "favourited", "reblogged", "bookmarked", "muted")
    approval = {"quote_approval": QuoteApprovalSerializer((policy, expected)).data}
    return _members(dict(zip(names, flags, strict=False)) | approval)  # without a viewer only the first flag is given


def filtered(post: Post, page: PostPage, words: Callable[[Post], dict[int, str]]) -> bytes:
    """Return the member `filtered` of a post or a boost, empty for an anonymous viewer.

    `words` returns the filter matches in the text of a post (for a boost, the boosted post); it is called only if needed.
    """
    if page.viewer_id is None:
        return b""
    if not page.marks.filters:
        return b',"filtered":[]'
    ids = {post.id, post.proper.id}
    return b',"filtered":%b' % orjson.dumps(page.marks.filters.results(words(post.proper), sorted(ids)))


def overlay(post: Post, page: PostPage) -> bytes:
    """Return the members of a post, which is not a boost, that neither `body` nor `marks` returns."""
    own = page.viewer_id == post.account_id
    parent, parent_author = post.in_reply_to_id, post.in_reply_to_account_id
    shown = _NO_PARENT
    if parent is not None or parent_author is not None:
        shown = b'"in_reply_to_id":%b,"in_reply_to_account_id":%b' % (
            b"null" if parent is None else b'"%d"' % parent,
            b"null" if parent_author is None else b'"%d"' % parent_author,
        )
    if own and post.visibility in FOLLOWER_VISIBILITIES:
        shown += b',"pinned":true' if post.id in page.marks.pinned else b',"pinned":false'
    return shown


def application(name: str | None, website: str | None) -> bytes:
    """Return the encoded member `application`."""
    entity = None if name is None else {"name": name, "website": website or None}
    return b"," + _members({"application": entity})


def reblog_body(post: Post) -> bytes:
    """Return the members of a boost other than `account`, `application`, `reblog` and the marks of the boosted post."""
    return _reblog_body(post.id, post.created_ms, post.visibility, post.uri, post.username)


# These members never change, and the same boosts appear in many timelines.
@lru_cache(maxsize=4096)
def _reblog_body(number: int, created_ms: int, visibility: str, uri: str | None, username: str) -> bytes:
    uri = uri or f"{links.status_uri(username, number)}/activity"
    shown = {
        "id": str(number),
        "created_at": clock.iso_ms(created_ms),
        "visibility": shown_visibility(visibility),
        "uri": uri,
        "url": uri,
    }
    return _members(shown) + _BOOST_MEMBERS


def _members(entity: dict[str, Any]) -> bytes:
    return orjson.dumps(entity)[1:-1]


# Values that are the same in every entity are encoded once.
NO_APPLICATION: Final = application(None, None)
"""Member `application` of a post that no application has written."""
_NO_PARENT: Final = b'"in_reply_to_id":null,"in_reply_to_account_id":null'
_NO_ATTACHMENTS: Final = b'"card":null,"poll":null,"quote":null,"tagged_collections":[]'
_BOOST_MEMBERS: Final = b"," + _members(
    {
        **_content(PostBody(id=0), []),
        "replies_count": 0,
        "reblogs_count": 0,
        "favourites_count": 0,
        "quotes_count": 0,
        "in_reply_to_id": None,
        "in_reply_to_account_id": None,
        "language": None,
        "quote": None,
        "card": None,
        "poll": None,
        "tagged_collections": [],
    }
)


class QuoteSerializer(EntitySerializer):
    """Quote: the quoted post of a post, and the state of the quote.

    The context has `viewer_id`, the viewer's `relations`, `with_source` (the quoted post is shown whatever the state of the
    quote), and `quoted`: the encoded quoted post, None if it no longer exists.
    """

    def to_representation(self, instance: Post) -> dict[str, Any]:
        viewer_id, relations = self.context["viewer_id"], self.context["relations"]
        quoted: bytes | None = self.context["quoted"]
        state = shown_state(instance, viewer_id, relations)
        shown = shows_quoted(instance, viewer_id, relations, whatever_state=self.context["with_source"])
        if shown and quoted is None:
            state = DELETED
        return {"state": state, "quoted_status": orjson.Fragment(quoted) if shown and quoted is not None else None}


class ShallowQuoteSerializer(EntitySerializer):
    """ShallowQuote: the quote in a quoted post. The context has `viewer_id` and the viewer's `relations`."""

    def to_representation(self, instance: Post) -> dict[str, Any]:
        viewer_id: int | None = self.context["viewer_id"]
        relations: Relations = self.context["relations"]
        shown = shows_quoted(instance, viewer_id, relations)
        return {
            "state": shown_state(instance, viewer_id, relations),
            "quoted_status_id": str(instance.quoted_status_id) if shown else None,
        }


class QuoteApprovalSerializer(EntitySerializer):
    """QuoteApproval: the quote policy of a post and the expected outcome for the viewer."""

    def to_representation(self, instance: tuple[int, Permission]) -> dict[str, Any]:
        policy, expected = instance
        return {
            "automatic": _group_names(automatic_groups(policy)),
            "manual": _group_names(manual_groups(policy)),
            "current_user": expected.value,
        }


def _group_names(groups: Group) -> list[str]:
    return [group.name.lower() for group in groups if group.name is not None]


class ContextSerializer(EntitySerializer):
    """Context: ancestors and descendants of a post. The context has `statuses`, encoded entities by id."""

    def to_representation(self, instance: Context) -> dict[str, Any]:
        """Return the entity; posts without an encoded entity are left out."""
        statuses = self.context["statuses"]
        return {
            "ancestors": [statuses[post.id] for post in instance.ancestors if post.id in statuses],
            "descendants": [statuses[post.id] for post in instance.descendants if post.id in statuses],
        }


class StatusEditSerializer(EntitySerializer):
    """StatusEdit: a version of a post.

    The context has the post's `account` and `quote` as entities, `emojis` to look up emojis of all versions, and
    `sensitized`: whether this viewer sees all of the author's files as sensitive.
    """

    def to_representation(self, instance: tuple[Post, PostBody]) -> dict[str, Any]:
        post, body = instance
        emojis: EmojiLookup = self.context["emojis"]
        texts = body.texts(local=post.local)
        entity: dict[str, Any] = {
            "account": self.context["account"],
            "content": body.content,
            **body.shown_columns,
            "sensitive": post.sensitive or self.context["sensitized"],
            "created_at": clock.iso(body.edited_at or post.created_at),
            "media_attachments": MediaAttachmentSerializer(body.media, many=True).data,
            "emojis": CustomEmojiSerializer(emojis.find(post.domain, *texts), many=True).data,
        }
        if body.poll_options:
            entity["poll"] = {"options": [{"title": title} for title in body.poll_options]}
        if post.quote_state is not None and self.context["quote"] is not None:
            entity["quote"] = self.context["quote"]
        return entity


class StatusSourceSerializer(EntitySerializer):
    """StatusSource: the source text of a post, which may be empty. A remote post (`local` is False in the context) has
    only HTML.
    """

    def to_representation(self, instance: PostBody) -> dict[str, Any]:
        """Return the entity; for a text that is not plain, with `content_type`, an extension of this server."""
        entity = {
            "id": str(instance.id),
            "text": instance.text if self.context["local"] else instance.content,
            "spoiler_text": instance.spoiler_text,
        }
        return entity if instance.content_type == PLAIN_TEXT else entity | {"content_type": instance.content_type}
