"""Knows how a page of posts becomes entities, by way of encoded bodies that may be in the cache.

The one way for REST, streaming and push alike:

    present_statuses(statuses_or_ids, viewer_id)      -> one entity per readable post
    present(hydrate(ids, viewer_id, verdict))         -> the same, after a verdict of the caller's
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import orjson

from accounts.models import Account
from accounts.serializers import account as accounts
from social.api.serializers import EntitySerializer
from social.kernel import fragments
from social.kernel.errors import NotFound
from statuses.models import Status
from statuses.queries.page import Page, author_key, fill, hydrate, of_rows, status_key
from statuses.queries.rows import Row, load_rows
from statuses.serializers import status as statuses


class Body(NamedTuple):
    """An encoded post: what is shown of it, as an object, and the words that filters look at, as UTF-8."""

    shown: bytes
    words: bytes

    def packed(self) -> bytes:
        """As it is kept: the length of the first in eight digits, then both."""
        return b"%08d%b%b" % (len(self.shown), *self)

    @classmethod
    def unpacked(cls, piece: bytes) -> Body:
        """The reverse of `packed`."""
        end = 8 + int(piece[:8])
        return cls(piece[8:end], piece[end:])


class PageSerializer(EntitySerializer):
    """The entities "Status" of a filled Page, encoded. `fresh` is what was encoded now and may be kept."""

    def to_representation(self, instance: Page) -> dict[int, orjson.Fragment]:
        """The entities by id, in the page's order; a row whose post vanished while it was read is left out."""
        self.page = instance
        self.fresh: dict[str, bytes] = {}
        self.bodies = self._encoded_bodies()
        self.authors = self._encoded_authors()
        return {row.id: orjson.Fragment(self._entity(row)) for row in instance.rows if self._is_complete(row)}

    def _encoded_bodies(self) -> dict[int, Body]:
        page, bodies = self.page, {}
        for number, row in page.posts.items():
            key = status_key(row)
            piece = page.pieces.get(key)
            if piece is not None:
                bodies[number] = Body.unpacked(piece)
            elif (source := page.sources.get(number)) is not None:
                shown = orjson.dumps(statuses.body(row, source, page.emojis))
                body = Body(shown, statuses.searched_text(source).encode())
                bodies[number] = body
                self.fresh[key] = body.packed()
        return bodies

    def _encoded_authors(self) -> dict[int, bytes]:
        """The authors with their counters."""
        page, authors = self.page, {}
        for number, row in page.authors.items():
            key = author_key(row)
            cached = page.pieces.get(key)
            if cached is not None:
                piece = accounts.Piece.unpacked(cached)
            elif (account := page.accounts.get(number)) is not None:
                piece = accounts.Piece.of(account, page.emojis, page.relations)
                if account.moved_to_id is None:
                    # One that moved shows another account, its counters included: that is not kept.
                    self.fresh[key] = piece.packed()
            else:
                continue
            authors[number] = piece.completed(number, cast(Account, row), page.relations)
        return authors

    def _is_complete(self, row: Row) -> bool:
        proper = row.proper
        return proper.id in self.bodies and proper.account_id in self.authors and row.account_id in self.authors

    def _entity(self, row: Row) -> bytes:
        proper = row.proper
        marks = statuses.marks(proper, self.page)
        entity = b'%b,%b,%b,%b,%b,"account":%b,"reblog":' % (
            self.bodies[proper.id].shown[:-1],
            statuses.counters(proper),
            marks,
            statuses.hanging(proper, self.page),
            statuses.overlay(proper, self.page),
            self.authors[proper.account_id],
        )
        if row is proper:
            return entity + b"null}"
        return b'{%b,%b,"account":%b,"reblog":%bnull}}' % (
            statuses.reblog_body(row, self.page),
            marks,
            self.authors[row.account_id],
            entity,
        )


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


def present_deleted(status: Status, viewer_id: int) -> dict[str, Any]:
    """The entity of one's own post about to be deleted: with its source, without `content` (clients.md, trap 36).

    Also of a boost of what may not be read any more: one must be able to take it back.
    """
    (row,) = load_rows([status.id])
    entity: dict[str, Any] = orjson.loads(orjson.dumps(present_acted_on(row, viewer_id)))
    entity.pop("content")
    return entity | {"text": status.text}
