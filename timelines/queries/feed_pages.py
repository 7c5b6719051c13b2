"""Finds pages of a timeline without repeated boosts, in a feed or any other source of its items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from social.kernel.cursors import Cursor
from timelines.policies.feeds import BOOST_WINDOW, repeated_items
from timelines.stores.feed import FeedItem

# Number of additional items that are read for a page; they replace the repeated boosts of most pages.
_EXTRA_ITEMS: Final = 20
# Limit on the items read for a page. Each further read doubles the number of items.
_ITEMS_LIMIT: Final = 2500


class NotHeldError(Exception):
    """The source lacks items that the page needs."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive items in the requested direction, repeated boosts included; if `complete`, no items follow the last item."""

    items: list[FeedItem]
    complete: bool


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page in the cursor's direction.

    `repeated` are the items that caused boosts to be left out. For a page that was read downwards, `read` contains all items
    read from the cursor on, newest first; `complete` tells whether the last of them is the oldest item that exists.
    """

    page: list[FeedItem]
    repeated: list[FeedItem]
    read: list[FeedItem] = field(default_factory=list)
    complete: bool = False


def find_page(read: Callable[[Cursor], Stretch], cursor: Cursor, *, extra: int = _EXTRA_ITEMS) -> FeedPage:
    """Return the page at the cursor, which is full if there are enough items to show. Raises NotHeldError when the page needs
    items that `read` does not return although they exist.

    Calls `read` once, twice when ascending, and more often where boosts of the same posts follow each other closely. After
    `_ITEMS_LIMIT` items the page stays short; an empty page gets a repeated boost, so that the reader can get the next page.
    `extra` is the number of items to read beyond the page.
    """
    return _find_up(read, cursor, extra) if cursor.ascending else _find_down(read, cursor, extra)


def _find_down(read: Callable[[Cursor], Stretch], cursor: Cursor, extra: int) -> FeedPage:
    items: list[FeedItem] = []
    count, before, after = cursor.limit + BOOST_WINDOW + extra, cursor.before, cursor.after or 0
    while True:
        found = read(Cursor(count, before))
        items += found.items
        decided = len(items) if found.complete else max(len(items) - BOOST_WINDOW, 0)
        end = decided
        while end and items[end - 1].id <= after:
            end -= 1
        page, repeated = _first_shown(items[:end], repeated_items(items[::-1])[::-1], cursor.limit)
        if found.complete or end < decided or len(page) == cursor.limit:
            return FeedPage(page, repeated, items, found.complete)
        if len(found.items) < count:
            raise NotHeldError
        if len(items) >= _ITEMS_LIMIT:
            return FeedPage(page or [items[decided - 1]], repeated, items)
        count, before = len(items), items[-1].id


def _find_up(read: Callable[[Cursor], Stretch], cursor: Cursor, extra: int) -> FeedPage:
    after = cursor.after or 0
    below = read(Cursor(BOOST_WINDOW, before=after + 1))
    if len(below.items) < BOOST_WINDOW and not below.complete:
        raise NotHeldError
    items, start = below.items[::-1], len(below.items)
    count = cursor.limit + extra
    while True:
        found = read(Cursor(count, cursor.before, after, ascending=True))
        items += found.items
        page, repeated = _first_shown(items[start:], repeated_items(items)[start:], cursor.limit)
        if found.complete or len(page) == cursor.limit:
            return FeedPage(page, repeated)
        if len(items) >= _ITEMS_LIMIT:
            return FeedPage(page or items[-1:], repeated)
        count, after = len(items), items[-1].id


def _first_shown(
    items: Sequence[FeedItem], repeats: Sequence[FeedItem | None], limit: int
) -> tuple[list[FeedItem], list[FeedItem]]:
    """Return the first `limit` items that are shown, and the items that caused boosts between them to be left out."""
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
