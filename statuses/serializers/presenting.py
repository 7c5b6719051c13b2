"""Builds the entities of a page of posts from encoded bodies, which may be cached.

REST, streaming and push all use this module:

    present_statuses(statuses_or_ids, viewer_id)      -> one entity per readable post
    present(hydrate(ids, viewer_id, post filter))         -> the same, after a filter of the caller's
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, cast

import orjson

from accounts.queries.emojis import EmojiLookup
from accounts.serializers import account as accounts
from social.api.serializers import EntitySerializer
from social.kernel import fragments
from social.kernel.errors import NotFound
from social.kernel.text.searching import Text, beginning
from statuses.models import Status
from statuses.policies.posts import Post
from statuses.policies.publishing import PLAIN_TEXT
from statuses.queries.history import load_history
from statuses.queries.page import PostPage, author_key, fill, hydrate, of_rows, status_key
from statuses.queries.posts import load_posts
from statuses.serializers import status as statuses
from statuses.serializers.card import encode_cards
from statuses.serializers.status import QuoteSerializer, ShallowQuoteSerializer, StatusEditSerializer

# Counters are never cached, because they change with every reply, boost and favourite of a post.
_POST: Final = b",".join(
    (
        b'%b,"replies_count":%d,"reblogs_count":%d,"favourites_count":%d,"quotes_count":%d',
        b'%b%b,%b,%b%b,"account":%b,"reblog":null}',
    )
)


class Body(NamedTuple):
    """An encoded post: `shown`, its members as an object; `words`, the text that filters search, as UTF-8; and `application`,
    the application that wrote it.
    """

    shown: bytes
    words: bytes
    application: bytes

    def packed(self) -> bytes:
        """Encode for the cache: the lengths of `shown` and `application` in eight digits each, then the three values."""
        return b"%08d%08d%b%b%b" % (len(self.shown), len(self.application), self.shown, self.application, self.words)

    @classmethod
    def unpacked(cls, packed: bytes) -> Body:
        """Decode a value that `packed` returned."""
        middle = 16 + int(packed[:8])
        end = middle + int(packed[8:16])
        return cls(packed[16:middle], packed[end:], packed[middle:end])


class PageSerializer(EntitySerializer):
    """The encoded entities "Status" of a filled PostPage. `fresh` are the bodies that were newly encoded and may be
    cached.
    """

    def to_representation(self, instance: PostPage) -> dict[int, orjson.Fragment]:
        """Return the entities by id, in the page's order; a post that was removed while the page was read is left out."""
        self.page = instance
        self.fresh: dict[str, bytes] = {}
        # Filter matches by post id, so that a post is searched only once, however often it is on the page.
        self.filtered: dict[int, dict[int, str]] = {}
        # Authors whose posts do not show the application that wrote them.
        self.silent: set[int] = set()
        self.bodies = self._encoded_bodies()
        self.authors = self._encoded_authors()
        self.cards = encode_cards(instance.cards, instance.viewer_id) if instance.cards else {}
        bodies, authors = self.bodies, self.authors
        return {
            post.id: orjson.Fragment(self._entity(post, proper))
            for post in instance.rows
            if (proper := post.original or post).id in bodies
            and proper.account_id in authors
            and post.account_id in authors
        }

    def _encoded_bodies(self) -> dict[int, Body]:
        page, bodies = self.page, {}
        for number, post in page.posts.items():
            cached = page.bodies.get(number)
            if cached is not None:
                bodies[number] = Body.unpacked(cached)
            elif (source := page.sources.get(number)) is not None:
                shown = orjson.dumps(statuses.body(post, source, page.emojis))
                application = statuses.application(source.application_name, source.application_website)
                body = Body(shown, beginning(statuses.searched_text(source)).encode(), application)
                bodies[number] = body
                self.fresh[status_key(post)] = body.packed()
        return bodies

    def _encoded_authors(self) -> dict[int, bytes]:
        """Return the encoded authors with their counters."""
        page, authors = self.page, {}
        for number, author in page.authors.items():
            cached = page.author_bodies.get(number)
            if cached is not None:
                encoded = accounts.EncodedAccount.unpacked(cached)
            elif (account := page.accounts.get(number)) is not None:
                encoded = accounts.EncodedAccount.of(account, page.emojis, page.relations)
                if encoded.may_be_kept:
                    self.fresh[author_key(author)] = encoded.packed()
            else:
                continue
            authors[number] = encoded.completed(number, author, page.relations)
            if not encoded.shows_application and number != page.viewer_id:
                self.silent.add(number)
        return authors

    def _entity(self, post: Post, proper: Post) -> bytes:
        page = self.page
        marks = statuses.marks(proper, page)
        entity = self._post(proper, marks, b"null" if proper.quote_state is None else self._quote(proper))
        if post is proper:
            return entity
        return b'{%b%b,%b%b,"account":%b,"reblog":%b}' % (
            statuses.reblog_body(post),
            self._application(post, statuses.NO_APPLICATION),
            marks,
            statuses.filtered(post, page, self._filtered),
            self.authors[post.account_id],
            entity,
        )

    def _filtered(self, proper: Post) -> dict[int, str]:
        found = self.filtered.get(proper.id)
        if found is None:
            text = Text(self.bodies[proper.id].words.decode())
            found = self.filtered[proper.id] = self.page.marks.filters.search(text)
        return found

    def _post(self, proper: Post, marks: bytes, quote: bytes) -> bytes:
        body = self.bodies[proper.id]
        return _POST % (
            body.shown[:-1],
            proper.replies_count,
            proper.reblogs_count,
            proper.favourites_count,
            proper.quotes_count,
            marks,
            statuses.filtered(proper, self.page, self._filtered),
            statuses.attached(proper, self.page, self.cards, quote),
            statuses.overlay(proper, self.page),
            # If the application was deleted, the cached body may still name it.
            self._application(proper, statuses.NO_APPLICATION if proper.application_id is None else body.application),
            self.authors[proper.account_id],
        )

    def _application(self, post: Post, application: bytes) -> bytes:
        """Return the member `application`: only for local posts whose author shows it or is the viewer."""
        return application if post.local and post.account_id not in self.silent else b""

    def _quote(self, proper: Post) -> bytes:
        """Encode the quote of a post, with the complete quoted post except for the post that it quotes itself."""
        quoted = proper.quoted
        context: dict[str, Any] = {
            "viewer_id": self.page.viewer_id,
            "relations": self.page.relations,
            "with_source": self.page.with_source,
            "quoted": None,
        }
        if quoted is not None and quoted.id in self.bodies and quoted.account_id in self.authors:
            inner = b"null"
            if quoted.quote_state is not None:
                inner = orjson.dumps(ShallowQuoteSerializer(quoted, context=context).data)
            context["quoted"] = self._post(quoted, statuses.marks(quoted, self.page), inner)
        return orjson.dumps(QuoteSerializer(proper, context=context).data)


def present_by_id(page: PostPage) -> dict[int, orjson.Fragment]:
    """Return the entities of a page by id, in its order; newly encoded bodies are cached."""
    serializer = PageSerializer(page)
    entities = cast(dict[int, orjson.Fragment], serializer.data)
    fragments.save(serializer.fresh)
    return entities


def present(page: PostPage) -> list[orjson.Fragment]:
    """Return the entities of a page, in its order."""
    return list(present_by_id(page).values())


def present_statuses(statuses_or_ids: Iterable[Status | int], viewer_id: int | None) -> list[orjson.Fragment]:
    """Return the entities of the posts that the viewer may read, in order: at most six queries."""
    wanted = list(statuses_or_ids)
    return present(hydrate(wanted, viewer_id)) if wanted else []


def present_status(status: Status | int, viewer_id: int | None) -> orjson.Fragment:
    """Return the entity of one post. Raises NotFound when the viewer may not read it (any more)."""
    return _only(hydrate([status], viewer_id))


def present_acted_on(post: Post, viewer_id: int) -> orjson.Fragment:
    """Return the entity of a post after the viewer has favourited or boosted it, or has undone a favourite or boost."""
    return _only(fill(of_rows([post], viewer_id)))


def entities_of(page: PostPage) -> list[dict[str, Any]]:
    """Return the entities of a page as objects, for web pages and feeds."""
    entities: list[dict[str, Any]] = orjson.loads(orjson.dumps(present(page)))
    return entities


def entity_of(status_id: int, viewer_id: int | None) -> dict[str, Any]:
    """Return the entity of one post as an object. Raises NotFound when the viewer may not read it."""
    entity: dict[str, Any] = orjson.loads(orjson.dumps(present_status(status_id, viewer_id)))
    return entity


def _only(page: PostPage) -> orjson.Fragment:
    for entity in present(page):
        return entity
    raise NotFound


def present_history(post: Post, viewer_id: int | None) -> list[dict[str, Any]]:
    """Return the entities "StatusEdit" of a post, which is not a boost, oldest first. Raises NotFound when the viewer may not
    read it.
    """
    shown = entity_of(post.id, viewer_id)
    versions = load_history(post)
    context = {
        "account": shown["account"],
        "quote": shown["quote"],
        "emojis": EmojiLookup((post.domain, body.texts(local=post.local)) for _post, body in versions),
        "sensitized": post.author.is_sensitized and viewer_id != post.account_id,
    }
    entities: list[dict[str, Any]] = StatusEditSerializer(versions, many=True, context=context).data
    return entities


def present_deleted(status: Status, viewer_id: int) -> dict[str, Any]:
    """Return the entity of the viewer's own post that is about to be deleted, with its source, without `content`
    (clients.md, trap 36).

    This also works for a boost of a post that the viewer may no longer read, because undoing the boost must be possible.
    """
    page = of_rows(load_posts([status.id]), viewer_id)
    page.with_source = True
    entity: dict[str, Any] = orjson.loads(orjson.dumps(_only(fill(page))))
    entity.pop("content")
    entity["text"] = status.text
    return entity if status.content_type == PLAIN_TEXT else entity | {"content_type": status.content_type}
