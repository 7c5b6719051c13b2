"""Reads, for many posts and many readers at once, what `timelines.policies.home` asks about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.db import connection

from accounts.policies.relations import FollowOptions, MuteOptions, Relations
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

# The readers may be thousands: they stand in the statement once, and written out, which is ten times quicker than to
# let the driver look at each number.
_PAIRS: Final = """
WITH readers AS MATERIALIZED (SELECT unnest(%(readers)s::bigint[]) AS id)
SELECT 'following', account_id, target_id FROM accounts_follow
 WHERE target_id = ANY(%(followable)s) AND account_id IN (SELECT id FROM readers)
UNION ALL
SELECT 'blocking', account_id, target_id FROM accounts_block
 WHERE target_id = ANY(%(people)s) AND account_id IN (SELECT id FROM readers)
UNION ALL
SELECT 'blocked_by', target_id, account_id FROM accounts_block
 WHERE account_id = ANY(%(people)s) AND target_id IN (SELECT id FROM readers)
UNION ALL
SELECT 'muting', account_id, target_id FROM accounts_mute
 WHERE target_id = ANY(%(people)s) AND account_id IN (SELECT id FROM readers)
   AND (expires_at IS NULL OR expires_at > now())
"""

_PLAIN: Final = FollowOptions()
_MUTED: Final = MuteOptions()


@dataclass(slots=True)
class _Pairs:
    following: set[int] = field(default_factory=set)
    blocking: set[int] = field(default_factory=set)
    blocked_by: set[int] = field(default_factory=set)
    muting: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Readers:
    """Who may get the posts of some authors: local followers active in the last days, and the authors themselves."""

    # By author: the readers, each with the options of their follow; None for the author.
    by_author: Mapping[int, Mapping[int, FollowOptions | None]]
    pairs: Mapping[int, _Pairs]

    def of(self, author_id: int) -> Mapping[int, FollowOptions | None]:
        """The readers of an author."""
        return self.by_author.get(author_id, {})

    def relations(self, reader_id: int, author_id: int) -> Relations:
        """How the reader stands to the author and the other people asked for."""
        options = self.by_author[author_id][reader_id]
        pairs = self.pairs.get(reader_id)
        following = {} if options is None else {author_id: options}
        if pairs is None:
            return Relations(viewer_id=reader_id, following=following)
        return Relations(
            viewer_id=reader_id,
            following=dict.fromkeys(pairs.following, _PLAIN) | following,
            blocking=frozenset(pairs.blocking),
            blocked_by=frozenset(pairs.blocked_by),
            muting=dict.fromkeys(pairs.muting, _MUTED),
        )


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
    return Readers(by_author, _load_pairs(readers, people, followable) if readers else {})


def _load_pairs(readers: Collection[int], people: Collection[int], followable: Collection[int]) -> Mapping[int, _Pairs]:
    pairs: dict[int, _Pairs] = defaultdict(_Pairs)
    with connection.cursor() as cursor:
        written = "{" + ",".join(map(str, readers)) + "}"
        cursor.execute(_PAIRS, {"readers": written, "people": list(people), "followable": list(followable)})
        for kind, reader, person in cursor.fetchall():
            getattr(pairs[reader], kind).add(person)
    return pairs


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
