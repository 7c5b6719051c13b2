"""Reads, for many posts and many readers at once, what `timelines.policies.home` asks about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from django.db import connection

from accounts.policies.relations import FollowOptions, Relations
from accounts.queries.relations import load_relations_of
from social.kernel import clock
from timelines.stores.feed import ACTIVE

# Presence is noted every twelve hours and a feed outlives its last reading by ACTIVE: a day covers the difference.
_SLACK: Final = timedelta(days=1)

_READERS: Final = """
SELECT f.target_id, f.account_id, f.show_reblogs, f.notify, f.languages
  FROM accounts_follow f JOIN accounts_user u ON u.account_id = f.account_id
 WHERE f.target_id = ANY(%(authors)s) AND COALESCE(u.active_at, u.created_at) > %(since)s
UNION ALL
SELECT u.account_id, u.account_id, NULL, NULL, NULL
  FROM accounts_user u WHERE u.account_id = ANY(%(authors)s)
"""

_PLAIN: Final = FollowOptions()


@dataclass(frozen=True, slots=True)
class Readers:
    """Who may get the posts of some authors: local followers active in the last days, and the authors themselves."""

    # By author: the readers, each with the options of their follow; None for the author.
    by_author: Mapping[int, Mapping[int, FollowOptions | None]]
    stored: Mapping[int, Relations]

    def of(self, author_id: int) -> Mapping[int, FollowOptions | None]:
        """The readers of an author."""
        return self.by_author.get(author_id, {})

    def relations(self, reader_id: int, author_id: int) -> Relations:
        """How the reader stands to the author and the other people asked for."""
        options = self.by_author[author_id][reader_id]
        following = {} if options is None else {author_id: options}
        relations = self.stored.get(reader_id)
        if relations is None:
            return Relations(viewer_id=reader_id, following=following)
        return replace(relations, following={**relations.following, **following})


def load_readers(author_ids: Collection[int], *, people: Collection[int], followable: Collection[int]) -> Readers:
    """The readers of these authors with their relations to `people`, in two queries.

    `people` is everybody who has part in the posts; `followable` those of them of whom it matters whether a reader
    follows them besides the author (who is answered, or boosted).
    """
    by_author: dict[int, dict[int, FollowOptions | None]] = defaultdict(dict)
    since = clock.now() - ACTIVE - _SLACK
    with connection.cursor() as cursor:
        cursor.execute(_READERS, {"authors": list(author_ids), "since": since})
        for author, reader, show_reblogs, notify, languages in cursor.fetchall():
            if reader == author:
                by_author[author][reader] = None
            elif show_reblogs and not notify and not languages:
                by_author[author][reader] = _PLAIN
            else:
                by_author[author][reader] = FollowOptions(show_reblogs, notify, tuple(languages) if languages else None)
    readers = {reader for found in by_author.values() for reader in found}
    return Readers(by_author, load_relations_of(readers, people, followable=followable))


def list_local_followers(account_ids: Iterable[int]) -> dict[int, set[int]]:
    """By account: the local accounts that follow it, and itself, whether active or not. One query."""
    found: dict[int, set[int]] = {account: {account} for account in account_ids}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT f.target_id, f.account_id FROM accounts_follow f"
            " JOIN accounts_user u ON u.account_id = f.account_id WHERE f.target_id = ANY(%s)",
            [list(found)],
        )
        for target, follower in cursor.fetchall():
            found[target].add(follower)
    return found
