"""Which boosts a reader has just seen already (contract, behaviours section 11, "Reblogs are aggregated")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from timelines.stores.feed import WINDOW

Item = TypeVar("Item", bound=tuple[int, int])


# A post that was shown itself or by a boost, whether for certain, with the numbers of items up to it: shown for certain, and at
# most.
_Seen = tuple[bool, int, int]


def judge_repeats(items: Sequence[Item], *, complete: bool) -> list[tuple[Item, bool | None]]:
    """The items (id, original's id or 0), oldest first, each with whether it is shown, as if all had been added to a feed in
    this order.

    None: that depends on what is older than the first of them, as it may for a boost of something that old: every other boost
    is newer than what it boosts. `complete`: nothing is older, and None never occurs.
    The scripts of `timelines.stores.feed` follow the same rule; a property test compares the two.
    """
    judged: list[tuple[Item, bool | None]] = []
    least = most = 0
    oldest = 0 if complete or not items else items[0][0]
    asked = {original for _post, original in items if original}
    # Of each post where it was shown last for certain, and where it may have been shown since.
    seen: dict[int, list[_Seen]] = {}
    for item in items:
        post, original = item
        shown: bool | None = True
        if original:
            before = [each for each in seen.get(original, ()) if least - each[1] < WINDOW]
            if any(certain and most - up_to < WINDOW for certain, _least, up_to in before):
                shown = False
            elif before or (original < oldest and least < WINDOW):
                shown = None
        judged.append((item, shown))
        if shown is False:
            continue
        most += 1
        if shown:
            least += 1
        if original:
            here = (bool(shown), least, most)
            seen[original] = [here] if shown else [*before, here]
            seen[post] = [here]
        elif post in asked:
            seen[post] = [(True, least, most)]
    return judged


def without_repeats(items: Iterable[Item]) -> list[Item]:
    """Those of the items, oldest first, that a feed shows which nothing else is in."""
    return [item for item, shown in judge_repeats([*items], complete=True) if shown]
