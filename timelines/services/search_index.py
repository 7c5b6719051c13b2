"""Keeps the documents of a search engine as the posts are, and says what such an engine must do.

PostgreSQL is one (`timelines.services.postgres_index`); another can be plugged in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from django.db import transaction

from accounts.events import ProfileUpdated
from accounts.models import Account
from social.kernel.events import publish
from social.kernel.ids import MAX_ID
from social.kernel.plans import IDS, Plan
from social.kernel.ports import Port
from social.kernel.text.to_html import QUOTE_FALLBACK
from statuses.events import CardAttached, StatusDeleted, StatusEdited, StatusFetched, StatusPublished
from statuses.models import CardType, Status, StatusCard
from statuses.models.attachments import MediaType
from statuses.policies.posts import Post, PostBody
from statuses.policies.visibility import is_listed
from statuses.queries.posts import load_bodies, load_posts
from statuses.serializers.status import searched_text
from timelines.events import AuthorOutdated, DocumentsOutdated
from timelines.policies.search_query import Fact, StatusQuery


@dataclass(frozen=True)
class Document:
    """A post as a search engine keeps it. `public`: everybody may find it, not only who has to do with it.

    `listed`: it stands in public places, so that it becomes `public` when its author lets posts be found.
    """

    status_id: int
    author_id: int
    text: str
    facts: frozenset[Fact] = frozenset()
    language: str | None = None
    listed: bool = False
    public: bool = False


@dataclass(frozen=True)
class Search:
    """A search by `viewer_id`, newest posts first, `offset` left out. `authors` and `excluded_authors` are account ids, of
    which one must have written the post (None: anybody), and none; `min_id` and `max_id` are exclusive.
    """

    viewer_id: int
    query: StatusQuery
    limit: int
    offset: int = 0
    authors: Collection[int] | None = None
    excluded_authors: Collection[int] = ()
    min_id: int | None = None
    max_id: int | None = None


class StatusIndex(Protocol):
    """A search engine for posts."""

    def keep(self, documents: Sequence[Document]) -> None:
        """Add these, or replace what is known of them. What is deleted at the moment of the call is left out."""
        ...

    def remove(self, status_ids: Collection[int]) -> None:
        """Forget these posts."""
        ...

    def list_outdated(self, author_id: int, *, public: bool, limit: int) -> list[int]:
        """Listed posts of an author that are not as public as they should be: `public` says what they should be."""
        ...

    def find(self, search: Search) -> list[int]:
        """The posts that fit and that the viewer may find, newest first: own ones, those the viewer has to do with, and
        those that everybody may find; none that a block, a mute or a limit keeps away.
        """
        ...


status_index: Port[StatusIndex] = Port("timelines.ports.status_index")


BATCH_SIZE: Final = 500
"""Number of documents of an author that are written again at a time."""

_INDEXABLE_AUTHORS: Final = Plan(
    lambda: Account.objects.filter(id__one_of=IDS, indexable=True).values_list("id", flat=True),
)
_FILM_POSTS: Final = Plan(
    lambda: StatusCard.objects.filter(status_id__one_of=IDS, card__type=CardType.VIDEO).values_list(
        "status_id", flat=True
    )
)
_ANCHOR: Final = re.compile(r"<a\b[^>]*>")
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
    """Let everybody, or nobody any more, find the posts of people who have decided so: BATCH_SIZE posts each, and an
    event for the rest.
    """
    ids = {event.account_id for event in events}
    authors = Account.objects.filter(id__one_of=ids).values_list("id", "indexable")
    for account_id, indexable in authors:
        with transaction.atomic():
            outdated = status_index.get().list_outdated(account_id, public=indexable, limit=BATCH_SIZE)
            write_documents(outdated)
            if len(outdated) == BATCH_SIZE:
                publish(AuthorOutdated(account_id=account_id))


def renew_documents(events: Sequence[DocumentsOutdated]) -> None:
    """Write the documents of old posts again, the newest first: BATCH_SIZE of them, and an event for the rest."""
    with transaction.atomic():
        posts = Status.objects.filter(id__lt=max(event.before for event in events), reblog_of=None, deleted_at=None)
        outdated = list(posts.order_by("-id").values_list("id", flat=True)[:BATCH_SIZE])
        write_documents(outdated)
        if len(outdated) == BATCH_SIZE:
            publish(DocumentsOutdated(before=outdated[-1]))


def count_indexed() -> int:
    """The number of posts that `rebuild_index` writes documents of."""
    return Status.objects.filter(reblog_of=None, deleted_at=None).count()


def rebuild_index(*, before: int = MAX_ID) -> Iterator[tuple[int, int]]:
    """Write the documents of all posts again, the newest first: yield how many a step has written, and the last id.

    Each step is a transaction of its own; `before` goes on after one.
    """
    while True:
        with transaction.atomic():
            posts = Status.objects.filter(id__lt=before, reblog_of=None, deleted_at=None).order_by("-id")
            ids = list(posts.values_list("id", flat=True)[:BATCH_SIZE])
            if not ids:
                return
            write_documents(ids)
        before = ids[-1]
        yield len(ids), before


def write_documents(status_ids: Iterable[int]) -> int:
    """Write what the search engine keeps of these posts, as they are now; how many that are. Boosts and deleted posts are
    left out. Four queries, and what the engine does.
    """
    posts = [post for post in load_posts(status_ids) if post.reblog_of_id is None and not post.is_deleted]
    sources = load_bodies(post.id for post in posts)
    indexable = set(_INDEXABLE_AUTHORS.run(ids=list({post.account_id for post in posts}))) if posts else set()
    players = _with_players(sources)
    documents = [
        _document(post, sources[post.id], indexable, embeds=post.id in players) for post in posts if post.id in sources
    ]
    status_index.get().keep(documents)
    return len(documents)


def _with_players(status_ids: Iterable[int]) -> set[int]:
    """The posts that show a film of another site."""
    ids = list(status_ids)
    return set(_FILM_POSTS.run(ids=ids)) if ids else set()


def _document(post: Post, source: PostBody, indexable: Collection[int], *, embeds: bool) -> Document:
    listed = is_listed(post.visibility)
    return Document(
        status_id=post.id,
        author_id=post.account_id,
        text=searched_text(source),
        facts=frozenset([*_facts(post, source), *([Fact.EMBED] if embeds else [])]),
        language=post.language,
        listed=listed,
        public=listed and post.account_id in indexable,
    )


def _facts(post: Post, source: PostBody) -> Iterable[Fact]:
    if source.media:
        yield Fact.MEDIA
    for media in source.media:
        if media.type in _FACTS_OF_FILES:
            yield _FACTS_OF_FILES[MediaType(media.type)]
    if source.poll_options:
        yield Fact.POLL
    if has_link(source.content):
        yield Fact.LINK
    if post.is_reply:
        yield Fact.REPLY
    if post.sensitive:
        yield Fact.SENSITIVE
    if post.quote_state is not None:
        yield Fact.QUOTE


def has_link(content: str) -> bool:
    """Tell whether HTML of a post leads anywhere but to people, hashtags and what it quotes."""
    anchors = _ANCHOR.findall(QUOTE_FALLBACK.sub("", content))
    return any("mention" not in anchor and "hashtag" not in anchor for anchor in anchors)
