"""Which boosts a reader has just seen already (contract, behaviours section 11, "Reblogs are aggregated")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from timelines.stores.feed import WINDOW

Item = TypeVar("Item", bound=tuple[int, int])


class _Seen(NamedTuple):
    """A post that was shown itself or by a boost, with the numbers of items up to it: shown for certain, and at most."""

    certain: bool
    least: int
    most: int


def judge_repeats(items: Iterable[Item], *, complete: bool) -> list[tuple[Item, bool | None]]:
    """The items (id, original's id or 0), oldest first, each with whether it is shown, as if all had been added to a feed in
    this order.

    None: that depends on what is older than the first of them. `complete`: nothing is, and None never occurs.
    The scripts of `timelines.stores.feed` follow the same rule; a property test compares the two.
    """
    judged: list[tuple[Item, bool | None]] = []
    least = most = 0
    # Of each post where it was shown last for certain, and where it may have been shown since.
    seen: dict[int, list[_Seen]] = {}
    for item in items:
        post, original = item
        shown: bool | None = True
        if original:
            before = [each for each in seen.get(original, ()) if least - each.least < WINDOW]
            if any(each.certain and most - each.most < WINDOW for each in before):
                shown = False
            elif before or (not complete and least < WINDOW):
                shown = None
        judged.append((item, shown))
        if shown is False:
            continue
        most += 1
        if shown:
            least += 1
        here = _Seen(bool(shown), least, most)
        if original:
            seen[original] = [here] if shown else [*before, here]
        seen[post] = [here]
    return judged


def without_repeats(items: Iterable[Item]) -> list[Item]:
    """Those of the items, oldest first, that a feed shows which nothing else is in."""
    return [item for item, shown in judge_repeats(items, complete=True) if shown]
