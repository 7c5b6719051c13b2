"""Knows the entity "Status" (contract, entities): a body that is the same for everybody, and what is laid over it.

The body may be kept encoded (`social.kernel.fragments`); counters and all that depends on the viewer never are. The
encoded halves are joined as bytes, so a page of forty posts costs no forty dictionaries.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from accounts.models.account import unicode_domain
from accounts.queries.emojis import EmojiLookup
from accounts.serializers.emoji import emoji_entities
from social.kernel import clock, links
from social.kernel.text.plain import plain
from statuses.policies.visibility import FOR_FOLLOWERS, shown_visibility
from statuses.queries.page import Page
from statuses.queries.rows import Row
from statuses.queries.sources import Source
from statuses.serializers.media import media_entity


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
        "media_attachments": [media_entity(media) for media in source.media],
        "mentions": [_mention_entity(**mention) for mention in source.mentions],
        "tags": [{"name": name, "url": links.tag_url(name)} for name in source.tags],
        "emojis": emoji_entities(emojis.find(row.domain, *source.texts(local=row.local))),
        "tagged_collections": [],
    }


def _mention_entity(*, id: int, username: str, domain: str | None, url: str, uri: str) -> dict[str, Any]:
    return {
        "id": str(id),
        "username": username,
        "url": links.profile_url(username) if domain is None else url or uri,
        "acct": username if domain is None else f"{username}@{unicode_domain(domain)}",
    }


def searched_text(source: Source) -> str:
    """The words that filters look at: warning, text and descriptions of files, as plain text."""
    described = (media.description for media in source.media if media.description)
    return "\n\n".join(part for part in (source.spoiler_text, plain(source.content), *described) if part)


def hanging(row: Row, page: Page) -> bytes:
    """Card, poll and quote of a post: entities of their own, which change without it and may depend on the viewer."""
    if not (page.cards or page.polls or page.quotes):
        return _NOTHING_HANGS
    number = row.id
    return b'"card":%b,"poll":%b,"quote":%b' % (
        page.cards.get(number, b"null"),
        page.polls.get(number, b"null"),
        page.quotes.get(number, b"null"),
    )


def counters(row: Row) -> bytes:
    """What changes with every answer, boost and like of a post: never kept."""
    return b'"replies_count":%d,"reblogs_count":%d,"favourites_count":%d,"quotes_count":%d' % (
        row.replies_count,
        row.reblogs_count,
        row.favourites_count,
        row.quotes_count,
    )


def marks(row: Row, page: Page) -> bytes:
    """Members that a post and its boosts have in common and that depend on the viewer: never kept."""
    viewer_id = page.viewer_id
    entity: dict[str, Any] = {"sensitive": row.sensitive or (row.is_author_sensitized and viewer_id != row.account_id)}
    if viewer_id is None:
        return _members(entity) + _FOR_ANYBODY
    entity["favourited"] = row.id in page.marks.favourited
    entity["reblogged"] = row.id in page.marks.reblogged
    return _members(entity) + _FOR_VIEWER


def overlay(row: Row, page: Page) -> bytes:
    """Members of a post that is no boost, besides its body and its state."""
    own = page.viewer_id == row.account_id
    entity: dict[str, Any] = {
        "in_reply_to_id": None if row.in_reply_to_id is None else str(row.in_reply_to_id),
        "in_reply_to_account_id": None if row.in_reply_to_account_id is None else str(row.in_reply_to_account_id),
    }
    if row.local and (own or row.shows_application):
        entity["application"] = (
            None
            if row.application_name is None
            else {"name": row.application_name, "website": row.application_website or None}
        )
    if own and row.visibility in FOR_FOLLOWERS:
        entity["pinned"] = False
    return _members(entity)


def reblog_body(row: Row, page: Page) -> bytes:
    """Members of a boost besides `account`, `reblog` and the marks of the boosted post."""
    uri = row.uri or f"{links.status_uri(row.username, row.id)}/activity"
    entity: dict[str, Any] = {
        "id": str(row.id),
        "created_at": clock.iso_ms(row.created_ms),
        "visibility": shown_visibility(row.visibility),
        "uri": uri,
        "url": uri,
    }
    if row.local and (page.viewer_id == row.account_id or row.shows_application):
        entity["application"] = None
    return _members(entity) + _OF_BOOST


def _members(entity: dict[str, Any]) -> bytes:
    return orjson.dumps(entity)[1:-1]


# What is the same in every entity is written once.
_ALWAYS: Final = {"quote_approval": {"automatic": [], "manual": [], "current_user": "denied"}}
_FOR_ANYBODY: Final = b"," + _members(_ALWAYS)
_FOR_VIEWER: Final = b"," + _members(_ALWAYS | {"muted": False, "bookmarked": False, "filtered": []})
_NOTHING_HANGS: Final = b'"card":null,"poll":null,"quote":null'
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
