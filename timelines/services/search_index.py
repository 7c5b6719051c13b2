"""Keeps the search engine's documents as the posts are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from django.db import transaction

from accounts.events import ProfileUpdated
from accounts.models import Account
from social.kernel.events import publish
from social.kernel.plans import IDS, Plan
from statuses.events import CardAttached, StatusDeleted, StatusEdited, StatusFetched, StatusPublished
from statuses.models import CardType, StatusCard
from statuses.models.media import MediaType
from statuses.policies.visibility import is_listed
from statuses.queries.rows import Row, load_rows
from statuses.queries.sources import Source, load_sources
from statuses.serializers.status import searched_text
from timelines.events import AuthorOutdated
from timelines.policies.search_query import Fact
from timelines.services.status_index import Document, status_index

STEP: Final = 500
"""So many documents of an author are written again at a time."""

_INDEXABLE: Final = Plan(
    lambda: Account.objects.filter(id__one_of=IDS, indexable=True).values_list("id", flat=True),
)
_WITH_FILMS: Final = Plan(
    lambda: StatusCard.objects.filter(status_id__one_of=IDS, card__type=CardType.VIDEO).values_list(
        "status_id", flat=True
    )
)
_ANCHOR: Final = re.compile(r"<a\b[^>]*>")
_QUOTE: Final = re.compile(r'<p class="quote-inline">.*?</p>', re.DOTALL)
_FACTS_OF_FILES: Final = {
    MediaType.IMAGE: Fact.IMAGE,
    MediaType.GIFV: Fact.VIDEO,
    MediaType.VIDEO: Fact.VIDEO,
    MediaType.AUDIO: Fact.AUDIO,
}


def index_posts(events: Sequence[StatusPublished | StatusEdited | StatusFetched | CardAttached]) -> None:
    """Have new and changed posts be found. Idempotent."""
    write_documents(event.status_id for event in events)


def remove_posts(events: Sequence[StatusDeleted]) -> None:
    """Have deleted posts be found no more."""
    status_index.get().remove([event.status_id for event in events])


def review_authors(events: Sequence[ProfileUpdated | AuthorOutdated]) -> None:
    """Let everybody, or nobody any more, find the posts of people who have decided so: STEP posts each, and an event for the
    rest.
    """
    ids = {event.account_id for event in events}
    authors = Account.objects.filter(id__one_of=ids).values_list("id", "indexable")
    for account_id, indexable in authors:
        with transaction.atomic():
            outdated = status_index.get().list_outdated(account_id, public=indexable, limit=STEP)
            write_documents(outdated)
            if len(outdated) == STEP:
                publish(AuthorOutdated(account_id=account_id))


def write_documents(status_ids: Iterable[int]) -> int:
    """Write what the search engine keeps of these posts, as they are now; how many that are. Boosts and deleted posts are
    left out. Four queries, and what the engine does.
    """
    rows = [row for row in load_rows(status_ids) if row.reblog_of_id is None and not row.is_deleted]
    sources = load_sources(row.id for row in rows)
    indexable = set(_INDEXABLE.run(ids=list({row.account_id for row in rows}))) if rows else set()
    players = _with_players(sources)
    documents = [
        _document(row, sources[row.id], indexable, embeds=row.id in players) for row in rows if row.id in sources
    ]
    status_index.get().keep(documents)
    return len(documents)


def _with_players(status_ids: Iterable[int]) -> set[int]:
    """The posts that show a film of another site."""
    ids = list(status_ids)
    return set(_WITH_FILMS.run(ids=ids)) if ids else set()


def _document(row: Row, source: Source, indexable: Collection[int], *, embeds: bool) -> Document:
    listed = is_listed(row.visibility)
    return Document(
        status_id=row.id,
        author_id=row.account_id,
        text=searched_text(source),
        facts=frozenset([*_facts(row, source), *([Fact.EMBED] if embeds else [])]),
        language=row.language,
        listed=listed,
        public=listed and row.account_id in indexable,
    )


def _facts(row: Row, source: Source) -> Iterable[Fact]:
    if source.media:
        yield Fact.MEDIA
    for media in source.media:
        if media.type in _FACTS_OF_FILES:
            yield _FACTS_OF_FILES[MediaType(media.type)]
    if source.poll_options:
        yield Fact.POLL
    if has_link(source.content):
        yield Fact.LINK
    if row.is_reply:
        yield Fact.REPLY
    if row.sensitive:
        yield Fact.SENSITIVE
    if row.quote_state is not None:
        yield Fact.QUOTE


def has_link(content: str) -> bool:
    """Whether HTML of a post leads anywhere but to people, hashtags and what it quotes."""
    anchors = _ANCHOR.findall(_QUOTE.sub("", content))
    return any("mention" not in anchor and "hashtag" not in anchor for anchor in anchors)
