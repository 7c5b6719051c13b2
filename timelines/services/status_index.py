"""What a search engine for posts must do.

PostgreSQL is one (`timelines.services.postgres_index`); another can be plugged in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from social.kernel.ports import Port
from timelines.policies.search_query import Fact, StatusQuery


@dataclass(frozen=True)
class Document:
    """A post as a search engine keeps it. `public`: everybody may find it, not only who has to do with it.

    `listed`: it stands in public places, so that it becomes `public` when its author lets posts be found.
    """

    status_id: int
    author_id: int
    text: str
    facts: frozenset[Fact] = frozenset()
    language: str | None = None
    listed: bool = False
    public: bool = False


@dataclass(frozen=True)
class Search:
    """A search by `viewer_id`, newest posts first, `offset` left out. `authors` and `excluded_authors` are account ids, of
    which one must have written the post (None: anybody), and none; `min_id` and `max_id` are exclusive.
    """

    viewer_id: int
    query: StatusQuery
    limit: int
    offset: int = 0
    authors: Collection[int] | None = None
    excluded_authors: Collection[int] = ()
    min_id: int | None = None
    max_id: int | None = None


class StatusIndex(Protocol):
    """A search engine for posts."""

    def keep(self, documents: Sequence[Document]) -> None:
        """Add these, or replace what is known of them. What is deleted at the moment of the call is left out."""
        ...

    def remove(self, status_ids: Collection[int]) -> None:
        """Forget these posts."""
        ...

    def list_outdated(self, author_id: int, *, public: bool, limit: int) -> list[int]:
        """Listed posts of an author that are not as public as they should be: `public` says what they should be."""
        ...

    def find(self, search: Search) -> list[int]:
        """The posts that fit and that the viewer may find, newest first: own ones, those the viewer has to do with, and
        those that everybody may find; none that a block, a mute or a limit keeps away.
        """
        ...


status_index: Port[StatusIndex] = Port("timelines.ports.status_index")
