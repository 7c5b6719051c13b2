"""Which boosts a reader has just seen already (contract, behaviours section 11, "Reblogs are aggregated")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from timelines.stores.feed import WINDOW

Item = TypeVar("Item", bound=tuple[int, int])


def without_repeats(items: Iterable[Item]) -> list[Item]:
    """The items (id, original's id or 0), oldest first, as if each had been added to a feed in this order.

    The script of `timelines.stores.feed.add` follows the same rule; a property test compares the two.
    """
    kept: list[Item] = []
    # Where each post, shown itself or by a boost, was kept last.
    places: dict[int, int] = {}
    for item in items:
        post, original = item
        place = len(kept)
        if original:
            if place - places.get(original, -WINDOW - 1) <= WINDOW:
                continue
            places[original] = place
        places[post] = place
        kept.append(item)
    return kept
