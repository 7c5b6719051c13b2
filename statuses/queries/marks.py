"""Knows what a viewer has done with the posts of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from statuses.queries.rows import Row


@dataclass(frozen=True, slots=True)
class Marks:
    """The posts (never boosts) that the viewer has favourited and boosted."""

    favourited: frozenset[int] = frozenset()
    reblogged: frozenset[int] = frozenset()


NO_MARKS = Marks()


def marks_in(rows: Iterable[Row]) -> Marks:
    """The marks that rows carry which were read for the viewer."""
    posts = [row.proper for row in rows]
    return Marks(
        favourited=frozenset(post.id for post in posts if post.is_favourited),
        reblogged=frozenset(post.id for post in posts if post.is_reblogged),
    )
