"""Finds pages of a timeline that is kept as a feed, with repeated boosts left out, in whatever holds its items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from social.kernel.cursors import Cursor
from timelines.policies.feeds import BOOST_WINDOW, repeated_items
from timelines.stores.feed import FeedItem

# Items read beyond what a page without repeats takes: most pages need no more.
_EXTRA_ITEMS: Final = 20
# Items read for a page at most: each further reading takes as many as those before together.
_ITEMS_LIMIT: Final = 2500


class NotHeldError(Exception):
    """Items that a page takes are not in what was read."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring items of a timeline in the direction asked for, repeated boosts among them. `complete`: nothing comes behind
    the last of them.
    """

    items: list[FeedItem]
    complete: bool


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page in the cursor's direction.

    `repeated`: the items for whose sake boosts were left out of it. `read`, of a page that was read downwards: all items from
    the cursor on that were read, the newest first; `complete`: these end with the oldest there is.
    """

    page: list[FeedItem]
    repeated: list[FeedItem]
    read: list[FeedItem] = field(default_factory=list)
    complete: bool = False


def find_page(read: Callable[[Cursor], Stretch], cursor: Cursor, *, extra: int = _EXTRA_ITEMS) -> FeedPage:
    """The page at the cursor, full if there are enough items that are shown. Raises NotHeldError where `read` answers fewer
    items than it was asked for, though there are more, and the page takes them.

    One call of `read`, two when ascending; more where boosts of the same posts follow each other closely. After
    `_ITEMS_LIMIT` items a page is left short; one that would be empty then has a repeated boost, so that the reader is led
    on. `extra`: items to read beyond the page and what decides about its boosts.
    """
    return _find_up(read, cursor, extra) if cursor.ascending else _find_down(read, cursor, extra)


def _find_down(read: Callable[[Cursor], Stretch], cursor: Cursor, extra: int) -> FeedPage:
    items: list[FeedItem] = []
    wanted, before, after = cursor.limit + BOOST_WINDOW + extra, cursor.before, cursor.after or 0
    while True:
        found = read(Cursor(wanted, before))
        items += found.items
        decided = len(items) if found.complete else max(len(items) - BOOST_WINDOW, 0)
        end = decided
        while end and items[end - 1].id <= after:
            end -= 1
        page, repeated = _cut(items[:end], repeated_items(items[::-1])[::-1], cursor.limit)
        if found.complete or end < decided or len(page) == cursor.limit:
            return FeedPage(page, repeated, items, found.complete)
        if len(found.items) < wanted:
            raise NotHeldError
        if len(items) >= _ITEMS_LIMIT:
            return FeedPage(page or [items[decided - 1]], repeated, items)
        wanted, before = len(items), items[-1].id


def _find_up(read: Callable[[Cursor], Stretch], cursor: Cursor, extra: int) -> FeedPage:
    after = cursor.after or 0
    below = read(Cursor(BOOST_WINDOW, before=after + 1))
    if len(below.items) < BOOST_WINDOW and not below.complete:
        raise NotHeldError
    items, start = below.items[::-1], len(below.items)
    wanted = cursor.limit + extra
    while True:
        found = read(Cursor(wanted, cursor.before, after, ascending=True))
        items += found.items
        page, repeated = _cut(items[start:], repeated_items(items)[start:], cursor.limit)
        if found.complete or len(page) == cursor.limit:
            return FeedPage(page, repeated)
        if len(items) >= _ITEMS_LIMIT:
            return FeedPage(page or items[-1:], repeated)
        wanted, after = len(items), items[-1].id


def _cut(
    items: Sequence[FeedItem], repeats: Sequence[FeedItem | None], limit: int
) -> tuple[list[FeedItem], list[FeedItem]]:
    """The first items that are shown, and what the others before the last of these repeat."""
    page: list[FeedItem] = []
    repeated: list[FeedItem] = []
    for item, same in zip(items, repeats, strict=False):
        if len(page) == limit:
            break
        if same is None:
            page.append(item)
        else:
            repeated.append(same)
    return page, repeated
