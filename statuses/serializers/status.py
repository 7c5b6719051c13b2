"""The entity "Status" (contract, entities): a body that is the same for everybody, and the fields that depend on the viewer.

The body may be kept encoded (`social.kernel.fragments`); counters and all that depends on the viewer never are. The
encoded halves are joined as bytes, so a page of forty posts costs no forty dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from accounts.models.account import unicode_domain
from accounts.queries.emojis import EmojiLookup
from accounts.serializers.emoji import CustomEmojiSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from social.kernel.text.plain import plain
from statuses.policies.filters import Text, match
from statuses.policies.quotes import Permission, permission
from statuses.policies.visibility import FOR_FOLLOWERS, shown_visibility
from statuses.queries.page import Page
from statuses.queries.rows import Row
from statuses.queries.sources import Source
from statuses.serializers.media import MediaAttachmentSerializer
from statuses.serializers.poll import PollSerializer
from statuses.serializers.quote import QuoteApprovalSerializer


class MentionSerializer(EntitySerializer):
    """Mention: an account that a post mentions, as `statuses.queries.sources` reads it."""

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """The entity."""
        username, domain = instance["username"], instance["domain"]
        return {
            "id": str(instance["id"]),
            "username": username,
            "url": links.profile_url(username) if domain is None else instance["url"] or instance["uri"],
            "acct": username if domain is None else f"{username}@{unicode_domain(domain)}",
        }


def body(row: Row, source: Source, emojis: EmojiLookup) -> dict[str, Any]:
    """What everybody sees alike of a post that is no boost."""
    return {
        "id": str(row.id),
        "created_at": clock.iso_ms(row.created_ms),
        "content": source.content,
        "spoiler_text": source.spoiler_text,
        "visibility": shown_visibility(row.visibility),
        "language": row.language,
        "uri": row.uri or links.status_uri(row.username, row.id),
        "url": links.status_url(row.username, row.id) if row.local else source.url or row.uri,
        "edited_at": clock.iso_or_none(source.edited_at),
        "media_attachments": MediaAttachmentSerializer(source.media, many=True).data,
        "mentions": MentionSerializer(source.mentions, many=True).data,
        "tags": [{"name": name, "url": links.tag_url(name)} for name in source.tags],
        "emojis": CustomEmojiSerializer(emojis.find(row.domain, *source.texts(local=row.local)), many=True).data,
        "tagged_collections": [],
    }


def searched_text(source: Source) -> str:
    """The words that filters look at: warning, text, options of a poll and descriptions of files, as plain text."""
    described = [media.description for media in source.media]
    return _searched(source.spoiler_text, source.content, [*source.poll_options, *described])


def searched_text_of(entity: dict[str, Any]) -> str:
    """As `searched_text`, of a post that was presented."""
    options = [option["title"] for option in entity["poll"]["options"]] if entity["poll"] is not None else []
    described = [file["description"] for file in entity["media_attachments"]]
    return _searched(entity["spoiler_text"], entity["content"], [*options, *described])


def _searched(spoiler_text: str, content: str, others: Iterable[str | None]) -> str:
    return "\n\n".join(part for part in (spoiler_text, plain(content), *others) if part)


def attached(row: Row, page: Page, cards: Mapping[int, bytes], quote: bytes = b"null") -> bytes:
    """Card, poll and encoded quote of a post: entities of their own, which change without it and may depend on the viewer.

    `cards` are encoded, by post.
    """
    if not (cards or page.polls or row.quote_state):
        return _NOTHING_ATTACHED
    number = row.id
    return b'"card":%b,"poll":%b,"quote":%b' % (
        cards.get(number, b"null"),
        _poll(row, page),
        quote,
    )


def _poll(row: Row, page: Page) -> bytes:
    poll = page.polls.get(row.id)
    if poll is None:
        return b"null"
    context = {
        "viewer_id": page.viewer_id,
        "author_id": row.account_id,
        "own_votes": page.marks.votes.get(row.id, ()),
        "domain": row.domain,
        "emojis": page.emojis,
    }
    return orjson.dumps(PollSerializer(poll, context=context).data)


def marks(row: Row, page: Page) -> bytes:
    """Members that a post and its boosts have in common and that depend on the viewer, but for `filtered`: never kept."""
    viewer_id, number, done = page.viewer_id, row.id, page.marks
    sensitive = row.sensitive or (row.author.is_sensitized and viewer_id != row.account_id)
    expected = permission(row, viewer_id, page.relations)
    if viewer_id is None:
        return _marks(row.quote_policy, expected, sensitive)
    return _marks(
        row.quote_policy,
        expected,
        sensitive,
        number in done.favourited,
        number in done.reblogged,
        number in done.bookmarked,
        number in done.muted,
    )


# On most pages one of a few dozen.
@lru_cache(maxsize=4096)
def _marks(policy: int, expected: Permission, *flags: bool) -> bytes:
    names = ("sensitive", "favourited", "reblogged", "bookmarked", "muted")
    approval = {"quote_approval": QuoteApprovalSerializer((policy, expected)).data}
    return _members(dict(zip(names, flags, strict=False)) | approval)  # without a viewer the first flag alone


def filtered(row: Row, page: Page, text: Callable[[Row], Text]) -> bytes:
    """The member `filtered` of a post or a boost; `text` finds that of the post that is read, and is asked only if needed.

    Nothing for anybody without an account.
    """
    if page.viewer_id is None:
        return b""
    if not page.marks.filters:
        return b',"filtered":[]'
    ids = {row.id, row.proper.id}
    return b',"filtered":%b' % orjson.dumps(match(page.marks.filters, text(row.proper), sorted(ids)))


def overlay(row: Row, page: Page) -> bytes:
    """Members of a post that is no boost, besides its body and its state."""
    own = page.viewer_id == row.account_id
    parent, parent_author = row.in_reply_to_id, row.in_reply_to_account_id
    shown = _ANSWERS_NOTHING
    if parent is not None or parent_author is not None:
        shown = b'"in_reply_to_id":%b,"in_reply_to_account_id":%b' % (
            b"null" if parent is None else b'"%d"' % parent,
            b"null" if parent_author is None else b'"%d"' % parent_author,
        )
    if own and row.visibility in FOR_FOLLOWERS:
        shown += b',"pinned":true' if row.id in page.marks.pinned else b',"pinned":false'
    return shown


def application(name: str | None, website: str | None) -> bytes:
    """The encoded member of that name."""
    entity = None if name is None else {"name": name, "website": website or None}
    return b"," + _members({"application": entity})


def reblog_body(row: Row, base_url: str) -> bytes:
    """Members of a boost besides `account`, `application`, `reblog` and the marks of the boosted post; `base_url` is the
    server's.
    """
    return _own_of_boost(base_url, row.username, row.id, row.created_ms, row.visibility, row.uri) + _OF_BOOST


# Boosts are read by many, and all that is shown of them themselves is made of these values.
@lru_cache(maxsize=2048)
def _own_of_boost(
    _base_url: str, username: str, number: int, created_ms: int, visibility: str, uri: str | None
) -> bytes:
    shown: dict[str, Any] = {
        "id": str(number),
        "created_at": clock.iso_ms(created_ms),
        "visibility": shown_visibility(visibility),
        "uri": uri or f"{links.status_uri(username, number)}/activity",
    }
    return _members(shown | {"url": shown["uri"]})


def _members(entity: dict[str, Any]) -> bytes:
    return orjson.dumps(entity)[1:-1]


# What is the same in every entity is written once.
NO_APPLICATION: Final = application(None, None)
"""The member `application` of a post that none has written."""
_ANSWERS_NOTHING: Final = b'"in_reply_to_id":null,"in_reply_to_account_id":null'
_NOTHING_ATTACHED: Final = b'"card":null,"poll":null,"quote":null'
_OF_BOOST: Final = b"," + _members(
    {
        "content": "",
        "replies_count": 0,
        "reblogs_count": 0,
        "favourites_count": 0,
        "quotes_count": 0,
        "in_reply_to_id": None,
        "in_reply_to_account_id": None,
        "spoiler_text": "",
        "language": None,
        "edited_at": None,
        "media_attachments": [],
        "mentions": [],
        "tags": [],
        "emojis": [],
        "tagged_collections": [],
        "quote": None,
        "card": None,
        "poll": None,
    }
)
