"""Which boosts a reader has just seen already (contract, behaviours section 11, "Reblogs are aggregated")."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import TypeVar

from timelines.stores.feed import WINDOW

Item = TypeVar("Item", bound=tuple[int, int])


def without_repeats(items: Iterable[Item]) -> list[Item]:
    """The items (id, original's id or 0), oldest first, as if each had been added to a feed in this order.

    The script of `timelines.stores.feed.add` follows the same rule; a property test compares the two.
    """
    kept: list[Item] = []
    recent: deque[Item] = deque()
    seen: Counter[int] = Counter()
    for item in items:
        post, original = item
        if original and seen[original]:
            continue
        kept.append(item)
        recent.append(item)
        seen.update((post, original) if original else (post,))
        if len(recent) > WINDOW:
            old_post, old_original = recent.popleft()
            seen.subtract((old_post, old_original) if old_original else (old_post,))
    return kept
