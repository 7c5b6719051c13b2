"""Reads how a viewer stands to accounts: one statement for all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db import connection

from accounts.policies.relations import NOBODY, FollowOptions, MuteOptions, Relations
from social.kernel import clock

_RELATIONS: Final = """
SELECT 'following', target_id, show_reblogs, notify, languages, NULL::timestamptz FROM accounts_follow
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s)
UNION ALL
SELECT 'requested', target_id, show_reblogs, notify, languages, NULL FROM accounts_followrequest
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s)
UNION ALL
SELECT 'followed_by', account_id, NULL, NULL, NULL, NULL FROM accounts_follow
 WHERE target_id = %(viewer)s AND account_id = ANY(%(ids)s)
UNION ALL
SELECT 'requested_by', account_id, NULL, NULL, NULL, NULL FROM accounts_followrequest
 WHERE target_id = %(viewer)s AND account_id = ANY(%(ids)s)
UNION ALL
SELECT 'blocking', target_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s)
UNION ALL
SELECT 'blocked_by', account_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE target_id = %(viewer)s AND account_id = ANY(%(ids)s)
UNION ALL
SELECT 'muting', target_id, hide_notifications, NULL, NULL, expires_at FROM accounts_mute
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s) AND (expires_at IS NULL OR expires_at > %(now)s)
UNION ALL
SELECT 'endorsing', target_id, NULL, NULL, NULL, NULL FROM accounts_endorsement
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s)
UNION ALL
SELECT 'note', target_id, NULL, NULL, ARRAY[comment], NULL FROM accounts_accountnote
 WHERE account_id = %(viewer)s AND target_id = ANY(%(ids)s)
"""

_KNOWN: Final = f"""{_RELATIONS}
UNION ALL
SELECT 'known', id, suspended_at IS NOT NULL, NULL, NULL, NULL FROM accounts_account WHERE id = ANY(%(ids)s)
"""  # noqa: S608 (constants)


def load_relations(viewer_id: int | None, account_ids: Iterable[int]) -> Relations:
    """The viewer's relations to these accounts, in one query (none for an anonymous viewer or no accounts)."""
    ids = sorted({account_id for account_id in account_ids if account_id != viewer_id})
    if viewer_id is None:
        return NOBODY
    if not ids:
        return Relations(viewer_id=viewer_id)
    return _relations(viewer_id, _rows(_RELATIONS, viewer_id, ids))


def load_known_relations(
    viewer_id: int, account_ids: Iterable[int], *, with_suspended: bool
) -> tuple[set[int], Relations]:
    """Those of these ids that are accounts, suspended ones only if asked for; and the relations to them. One query."""
    ids = sorted(set(account_ids))
    if not ids:
        return set(), Relations(viewer_id=viewer_id)
    rows = _rows(_KNOWN, viewer_id, ids)
    known = {account_id for kind, account_id, flag, *_ in rows if kind == "known" and (with_suspended or not flag)}
    return known, _relations(viewer_id, [row for row in rows if row[0] != "known"])


def _rows(sql: str, viewer_id: int, ids: list[int]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"viewer": viewer_id, "ids": ids, "now": clock.now()})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _relations(viewer_id: int, rows: list[tuple[Any, ...]]) -> Relations:
    sets: dict[str, set[int]] = {
        name: set() for name in ("followed_by", "requested_by", "blocking", "blocked_by", "endorsing")
    }
    following: dict[int, FollowOptions] = {}
    requested: dict[int, FollowOptions] = {}
    muting: dict[int, MuteOptions] = {}
    notes: dict[int, str] = {}
    for kind, account_id, flag, notify, languages, expires_at in rows:
        if kind == "following" or kind == "requested":
            options = FollowOptions(flag, notify, None if languages is None else tuple(languages))
            (following if kind == "following" else requested)[account_id] = options
        elif kind == "muting":
            muting[account_id] = MuteOptions(flag, expires_at)
        elif kind == "note":
            notes[account_id] = languages[0]
        else:
            sets[kind].add(account_id)
    return Relations(
        viewer_id=viewer_id,
        following=following,
        requested=requested,
        muting=muting,
        followed_by=frozenset(sets["followed_by"]),
        requested_by=frozenset(sets["requested_by"]),
        blocking=frozenset(sets["blocking"]),
        blocked_by=frozenset(sets["blocked_by"]),
        endorsing=frozenset(sets["endorsing"]),
        notes=notes,
    )
