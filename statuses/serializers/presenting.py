"""How a page of posts becomes entities, by way of encoded bodies that may be in the cache.

The one way for REST, streaming and push alike:

    present_statuses(statuses_or_ids, viewer_id)      -> one entity per readable post
    present(hydrate(ids, viewer_id, verdict))         -> the same, after a verdict of the caller's
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import orjson

from accounts.models import Account
from accounts.queries.emojis import EmojiLookup
from accounts.serializers import account as accounts
from social.api.serializers import EntitySerializer
from social.kernel import fragments
from social.kernel.errors import NotFound
from statuses.models import Status
from statuses.policies.filters import Text
from statuses.policies.publishing import PLAIN
from statuses.queries.history import load_history
from statuses.queries.page import Page, author_key, fill, hydrate, of_rows, status_key
from statuses.queries.rows import Row, load_rows
from statuses.serializers import status as statuses
from statuses.serializers.card import encode_cards
from statuses.serializers.quote import QuoteSerializer, ShallowQuoteSerializer
from statuses.serializers.status_edit import StatusEditSerializer


class Body(NamedTuple):
    """An encoded post: what is shown of it, as an object, and the words that filters look at, as UTF-8."""

    shown: bytes
    words: bytes

    def packed(self) -> bytes:
        """As it is kept: the length of the first in eight digits, then both."""
        return b"%08d%b%b" % (len(self.shown), *self)

    @classmethod
    def unpacked(cls, packed: bytes) -> Body:
        """The reverse of `packed`."""
        end = 8 + int(packed[:8])
        return cls(packed[8:end], packed[end:])


class PageSerializer(EntitySerializer):
    """The entities "Status" of a filled Page, encoded. `fresh` is what was encoded now and may be kept."""

    def to_representation(self, instance: Page) -> dict[int, orjson.Fragment]:
        """The entities by id, in the page's order; a row whose post vanished while it was read is left out."""
        self.page = instance
        self.fresh: dict[str, bytes] = {}
        self.texts: dict[int, Text] = {}
        self.bodies = self._encoded_bodies()
        self.authors = self._encoded_authors()
        self.cards = encode_cards(instance.cards, instance.viewer_id) if instance.cards else {}
        return {row.id: orjson.Fragment(self._entity(row)) for row in instance.rows if self._is_complete(row)}

    def _encoded_bodies(self) -> dict[int, Body]:
        page, bodies = self.page, {}
        for number, row in page.posts.items():
            cached = page.bodies.get(number)
            if cached is not None:
                bodies[number] = Body.unpacked(cached)
            elif (source := page.sources.get(number)) is not None:
                shown = orjson.dumps(statuses.body(row, source, page.emojis))
                body = Body(shown, statuses.searched_text(source).encode())
                bodies[number] = body
                self.fresh[status_key(row)] = body.packed()
        return bodies

    def _encoded_authors(self) -> dict[int, bytes]:
        """The authors with their counters."""
        page, authors = self.page, {}
        for number, row in page.authors.items():
            cached = page.author_bodies.get(number)
            if cached is not None:
                author = accounts.EncodedAccount.unpacked(cached)
            elif (account := page.accounts.get(number)) is not None:
                author = accounts.EncodedAccount.of(account, page.emojis, page.relations)
                if author.may_be_kept:
                    self.fresh[author_key(row)] = author.packed()
            else:
                continue
            authors[number] = author.completed(number, cast(Account, row), page.relations)
        return authors

    def _is_complete(self, row: Row) -> bool:
        proper = row.proper
        return proper.id in self.bodies and proper.account_id in self.authors and row.account_id in self.authors

    def _entity(self, row: Row) -> bytes:
        proper = row.proper
        marks = statuses.marks(proper, self.page)
        entity = self._post(proper, marks, self._quote(proper))
        if row is proper:
            return entity
        return b'{%b,%b%b,"account":%b,"reblog":%b}' % (
            statuses.reblog_body(row, self.page),
            marks,
            statuses.filtered(row, self.page, self._text),
            self.authors[row.account_id],
            entity,
        )

    def _text(self, proper: Row) -> Text:
        text = self.texts.get(proper.id)
        if text is None:
            text = self.texts[proper.id] = Text(self.bodies[proper.id].words.decode())
        return text

    def _post(self, proper: Row, marks: bytes, quote: bytes) -> bytes:
        return b'%b,%b,%b%b,%b,%b,"account":%b,"reblog":null}' % (
            self.bodies[proper.id].shown[:-1],
            statuses.counters(proper),
            marks,
            statuses.filtered(proper, self.page, self._text),
            statuses.attached(proper, self.page, self.cards, quote),
            statuses.overlay(proper, self.page),
            self.authors[proper.account_id],
        )

    def _quote(self, proper: Row) -> bytes:
        """What a post quotes, with all that is shown of it but what that quotes itself."""
        if proper.quote_state is None:
            return b"null"
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


def present_by_id(page: Page) -> dict[int, orjson.Fragment]:
    """The entities of a page by id, in its order; bodies encoded on the way are kept for the next page."""
    serializer = PageSerializer(page)
    entities = cast(dict[int, orjson.Fragment], serializer.data)
    fragments.save(serializer.fresh)
    return entities


def present(page: Page) -> list[orjson.Fragment]:
    """The entities of a page, in its order."""
    return list(present_by_id(page).values())


def present_statuses(statuses_or_ids: Iterable[Status | int], viewer_id: int | None) -> list[orjson.Fragment]:
    """The entities of those of these posts that the viewer may read, in their order: at most six queries."""
    return present(hydrate(statuses_or_ids, viewer_id))


def present_status(status: Status | int, viewer_id: int | None) -> orjson.Fragment:
    """The entity of one post. Raises NotFound when the viewer may not read it (any more)."""
    return _only(hydrate([status], viewer_id))


def present_acted_on(row: Row, viewer_id: int) -> orjson.Fragment:
    """The entity of a post that the viewer has just liked, boosted, or taken that back from, as the act left it."""
    return _only(fill(of_rows([row], viewer_id)))


def _only(page: Page) -> orjson.Fragment:
    for entity in present(page):
        return entity
    raise NotFound


def present_history(row: Row, viewer_id: int | None) -> list[dict[str, Any]]:
    """The entities "StatusEdit" of a post, which is no boost, oldest first. Raises NotFound when the viewer may not read it."""
    shown: dict[str, Any] = orjson.loads(orjson.dumps(present_status(row.id, viewer_id)))
    versions = load_history(row)
    texts = ((row.domain, [*each.texts(local=row.local), *(each.poll_options or ())]) for each in versions)
    context = {
        "row": row,
        "account": shown["account"],
        "quote": shown["quote"],
        "emojis": EmojiLookup(texts),
        "sensitized": row.is_author_sensitized and viewer_id != row.account_id,
    }
    entities: list[dict[str, Any]] = StatusEditSerializer(versions, many=True, context=context).data
    return entities


def present_deleted(status: Status, viewer_id: int) -> dict[str, Any]:
    """The entity of one's own post about to be deleted: with its source, without `content` (clients.md, trap 36).

    Also of a boost of what may not be read any more: one must be able to take it back.
    """
    page = of_rows(load_rows([status.id]), viewer_id)
    page.with_source = True
    entity: dict[str, Any] = orjson.loads(orjson.dumps(_only(fill(page))))
    entity.pop("content")
    entity["text"] = status.text
    return entity if status.content_type == PLAIN else entity | {"content_type": status.content_type}
