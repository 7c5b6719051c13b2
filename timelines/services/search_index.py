"""Updates the documents of a search engine: PostgreSQL (`timelines.services.postgres_index`), or a plugged-in engine."""

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
from statuses.events import CardAttached, StatusDeleted, StatusEdited, StatusFetched, StatusImported, StatusPublished
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
    """A post in the form that a search engine stores. `public`: everyone may find the post, not only viewers who have
    interacted with it or are mentioned in it. `listed`: the post has public visibility; its document becomes `public` when the
    author opts in to search.
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
    """A search by `viewer_id`, newest posts first, skipping the first `offset` results. Posts must be by one of `authors`
    (None for all), and by none of `excluded_authors`; `min_id` and `max_id` are exclusive.
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
    """Interface of a search engine for posts."""

    def keep(self, documents: Sequence[Document]) -> None:
        """Add or replace these documents. Posts that are deleted at the time of the call are left out."""
        ...

    def remove(self, status_ids: Collection[int]) -> None: ...

    def list_outdated(self, author_id: int, *, public: bool, limit: int) -> list[int]:
        """Return the listed posts of an author whose documents do not yet have this value of `public`."""
        ...

    def find(self, search: Search) -> list[int]:
        """Return the matching posts that the viewer may find, newest first: public posts, and posts that the viewer wrote,
        favourited, boosted, bookmarked, voted in or is mentioned in. Posts hidden by a block, a mute or a limit are left out.
        """
        ...


status_index: Port[StatusIndex] = Port("timelines.ports.status_index")


BATCH_SIZE: Final = 500
"""Number of documents that are written again in one step."""

_INDEXABLE_AUTHORS: Final = Plan(
    lambda: Account.objects.filter(id__one_of=IDS, indexable=True).values_list("id", flat=True)
)
_FILM_POSTS: Final = Plan(
    lambda: StatusCard.objects.filter(status_id__one_of=IDS, card__type=CardType.VIDEO).values_list(
        "status_id", flat=True
    )
)
_ANCHOR: Final = re.compile(r"<a\b[^>]*>")
# Links to accounts and hashtags are recognised by their class, because an address may contain the same words.
_TAG_CLASS: Final = re.compile(r"""\bclass=["'][^"']*\b(?:mention|hashtag)\b""")
_FACTS_OF_FILES: Final = {
    MediaType.IMAGE: Fact.IMAGE,
    MediaType.GIFV: Fact.VIDEO,
    MediaType.VIDEO: Fact.VIDEO,
    MediaType.AUDIO: Fact.AUDIO,
}


def index_posts(
    events: Sequence[StatusPublished | StatusEdited | StatusFetched | StatusImported | CardAttached],
) -> None:
    write_documents(event.status_id for event in events)


def remove_posts(events: Sequence[StatusDeleted]) -> None:
    status_index.get().remove([event.status_id for event in events])


def review_authors(events: Sequence[ProfileUpdated | AuthorOutdated]) -> None:
    """Update the documents of authors who opted in to or out of search: at most BATCH_SIZE of each author. An event is
    published for the rest.
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
    """Write the documents of old posts again, newest first: BATCH_SIZE documents; an event is published for the rest."""
    with transaction.atomic():
        posts = Status.objects.filter(id__lt=max(event.before for event in events), reblog_of=None, deleted_at=None)
        outdated = list(posts.order_by("-id").values_list("id", flat=True)[:BATCH_SIZE])
        write_documents(outdated)
        if len(outdated) == BATCH_SIZE:
            publish(DocumentsOutdated(before=outdated[-1]))


def count_indexed() -> int:
    """Return the number of posts whose documents `rebuild_index` writes."""
    return Status.objects.filter(reblog_of=None, deleted_at=None).count()


def rebuild_index(*, before: int = MAX_ID) -> Iterator[tuple[int, int]]:
    """Write all documents again, newest first, from ids below `before`; yields the number and last id of each transaction."""
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
    """Write the documents of these posts, except boosts and deleted posts; return their number. Takes four queries, plus the
    queries of the search engine.
    """
    posts = [post for post in load_posts(status_ids) if post.reblog_of_id is None and not post.is_deleted]
    sources = load_bodies(post.id for post in posts)
    indexable = set(_INDEXABLE_AUTHORS.run(ids=list({post.account_id for post in posts}))) if posts else set()
    players = set(_FILM_POSTS.run(ids=list(sources))) if sources else set()
    documents = [
        _document(post, sources[post.id], indexable, embeds=post.id in players) for post in posts if post.id in sources
    ]
    status_index.get().keep(documents)
    return len(documents)


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
    """Tell whether the HTML of a post has a link other than to accounts, hashtags and its quoted post."""
    anchors = _ANCHOR.findall(QUOTE_FALLBACK.sub("", content))
    return any(_TAG_CLASS.search(anchor) is None for anchor in anchors)
