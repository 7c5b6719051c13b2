"""Reads the relations of one or many viewers to accounts, in one statement."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from accounts.models import Account, AccountDomainBlock, Block, Follow, FollowRequest, Mute
from accounts.policies.audience import is_present
from accounts.policies.featuring import Audience, featuring_audience
from accounts.policies.relations import NO_RELATIONS, FollowOptions, Hidden, MuteOptions, Relations
from social.kernel.statements import rows_of

# The arrays are in a SELECT so that the planner does not know their length; otherwise it would plan the statement again
# at every call (docs/adr/0011). Accounts are looked up only for the few viewers who block a server.
_READING: Final = """
SELECT 'following', target_id, show_reblogs, notify, languages, direct_since FROM accounts_follow
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
UNION ALL
SELECT 'blocked_by', account_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE target_id = %(viewer)s AND account_id = ANY((SELECT %(ids)s)::bigint[])
UNION ALL
SELECT 'domain_blocked_by', account_id, NULL, NULL, NULL, NULL FROM accounts_accountdomainblock
 WHERE account_id = ANY((SELECT %(ids)s)::bigint[]) AND domain = (SELECT domain FROM accounts_account WHERE id = %(viewer)s)
UNION ALL
SELECT 'is_remote', id, NULL, NULL, NULL, NULL FROM accounts_account WHERE id = %(viewer)s AND domain IS NOT NULL
"""
_HIDING: Final = f"""{_READING}
UNION ALL
SELECT 'blocking', target_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
UNION ALL
SELECT 'muting', target_id, hide_notifications, NULL, NULL, expires_at FROM accounts_mute
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
   AND (expires_at IS NULL OR expires_at > statement_timestamp())
UNION ALL
SELECT 'domain_blocking', a.id, NULL, NULL, NULL, NULL FROM accounts_account a
 WHERE EXISTS (SELECT 1 FROM accounts_accountdomainblock WHERE account_id = %(viewer)s)
   AND a.id = ANY((SELECT %(ids)s)::bigint[])
   AND a.domain IN (SELECT domain FROM accounts_accountdomainblock WHERE account_id = %(viewer)s)
"""  # noqa: S608 (constants)

# This part of the statement is optional, because it rarely matters whether the author of a post follows the viewer.
_FOLLOWERS: Final = """
UNION ALL
SELECT 'followed_by', account_id, NULL, NULL, NULL, NULL FROM accounts_follow
 WHERE target_id = %(viewer)s AND account_id = ANY((SELECT %(ids)s)::bigint[])
"""
_READING_AND_FOLLOWERS: Final = _READING + _FOLLOWERS

_read_apart: list[str] = []

_RELATIONS: Final = f"""{_HIDING}
UNION ALL
SELECT 'requested', target_id, show_reblogs, notify, languages, NULL FROM accounts_followrequest
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
{_FOLLOWERS}
UNION ALL
SELECT 'requested_by', account_id, NULL, NULL, NULL, NULL FROM accounts_followrequest
 WHERE target_id = %(viewer)s AND account_id = ANY((SELECT %(ids)s)::bigint[])
UNION ALL
SELECT 'endorsing', target_id, NULL, NULL, NULL, NULL FROM accounts_endorsement
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
UNION ALL
SELECT 'note', target_id, NULL, NULL, ARRAY[comment], NULL FROM accounts_accountnote
 WHERE account_id = %(viewer)s AND target_id = ANY((SELECT %(ids)s)::bigint[])
"""  # noqa: S608 (constants)

_RELATIONS_WITH_STATE: Final = f"""{_RELATIONS}
UNION ALL
SELECT 'known', id, suspended_at IS NOT NULL, NULL, NULL, NULL FROM accounts_account
 WHERE id = ANY((SELECT %(ids)s)::bigint[])
"""  # noqa: S608 (constants)

# There may be thousands of viewers, who are therefore in the statement only once. Most viewers have no relation to most
# accounts, so the result is short.
_RELATIONS_OF_VIEWERS: Final = """
WITH viewers AS MATERIALIZED (SELECT unnest(%(viewers)s::bigint[]) AS id)
SELECT 'following', account_id, target_id, show_reblogs, notify, languages, direct_since FROM accounts_follow
 WHERE target_id = ANY(%(followable)s) AND account_id IN (SELECT id FROM viewers)
UNION ALL
SELECT 'blocking', account_id, target_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE target_id = ANY(%(ids)s) AND account_id IN (SELECT id FROM viewers)
UNION ALL
SELECT 'blocked_by', target_id, account_id, NULL, NULL, NULL, NULL FROM accounts_block
 WHERE account_id = ANY(%(ids)s) AND target_id IN (SELECT id FROM viewers)
UNION ALL
SELECT 'muting', account_id, target_id, hide_notifications, NULL, NULL, expires_at FROM accounts_mute
 WHERE target_id = ANY(%(ids)s) AND account_id IN (SELECT id FROM viewers)
   AND (expires_at IS NULL OR expires_at > statement_timestamp())
UNION ALL
SELECT 'domain_blocking', d.account_id, a.id, NULL, NULL, NULL, NULL
  FROM accounts_account a JOIN accounts_accountdomainblock d ON d.domain = a.domain
 WHERE a.id = ANY(%(ids)s) AND d.account_id IN (SELECT id FROM viewers)
UNION ALL
SELECT 'domain_blocked_by', a.id, d.account_id, NULL, NULL, NULL, NULL
  FROM accounts_accountdomainblock d JOIN accounts_account a ON a.domain = d.domain
 WHERE d.account_id = ANY(%(ids)s) AND a.id IN (SELECT id FROM viewers)
"""

_AWAITED: Final = "SELECT TRUE FROM accounts_follow WHERE target_id = %(account)s AND notify LIMIT 1"
_HIDDEN: Final = """
SELECT 'blocking', target_id, NULL::timestamptz, NULL FROM accounts_block WHERE account_id = %(viewer)s
UNION ALL
SELECT 'blocked_by', account_id, NULL, NULL FROM accounts_block WHERE target_id = %(viewer)s
UNION ALL
SELECT 'muting', target_id, expires_at, NULL FROM accounts_mute
 WHERE account_id = %(viewer)s AND (expires_at IS NULL OR expires_at > statement_timestamp())
UNION ALL
SELECT 'domains', NULL, NULL, domain FROM accounts_accountdomainblock WHERE account_id = %(viewer)s
"""

_PLAIN: Final = FollowOptions()


def load_relations(viewer_id: int | None, account_ids: Iterable[int]) -> Relations:
    """Load the viewer's relations to these accounts, in one query (none for an anonymous viewer or no accounts)."""
    return _load(_RELATIONS, viewer_id, account_ids)


def load_hiding(viewer_id: int | None, account_ids: Iterable[int], *, with_followed_by: bool = False) -> Relations:
    """Load the relations that pages of posts need: the viewer's follows, blocks, mutes, blocked servers and exclusive lists.

    `with_followed_by` adds which of the accounts follow the viewer. Takes one query, or none as in `load_relations`.
    """
    return _load(_hiding(with_followed_by), viewer_id, account_ids)


@cache
def _hiding(with_followed_by: bool) -> str:
    return "".join((_HIDING, _FOLLOWERS, *_read_apart) if with_followed_by else (_HIDING, *_read_apart))


def load_reading(viewer_id: int | None, account_ids: Iterable[int], *, with_followed_by: bool = False) -> Relations:
    """Load the relations that decide which posts the viewer may read: the viewer's follows, and blocks of the viewer by these
    accounts. `with_followed_by` has the same effect as in `load_hiding`.
    """
    return _load(_READING_AND_FOLLOWERS if with_followed_by else _READING, viewer_id, account_ids)


def register_read_apart(condition: str) -> None:
    """Register, at the start of a process, the SQL condition for accounts that are read only in exclusive lists.

    `load_hiding` evaluates the condition within its own statement, for the account `a` and the owner `%(viewer)s` of the lists.
    """
    _read_apart[:] = [
        f"""
UNION ALL
SELECT 'read_apart', a.id, NULL, NULL, NULL, NULL FROM unnest((SELECT %(ids)s)::bigint[]) a (id) WHERE {condition}
"""  # noqa: S608 (a constant of an app)
    ]
    _hiding.cache_clear()


def featuring_ids(accounts: Iterable[Account], approving: Iterable[int] = ()) -> set[int]:
    """Return the ids of the accounts that let only their followers feature them. `accounts` and the accounts to which they have
    moved are checked; the ids in `approving` are known to qualify, and are returned as well.
    """
    ids = set(approving)
    for account in accounts:
        for person in (account, account.moved_to if account.moved_to_id is not None else None):
            if person is not None and featuring_audience(person) is Audience.FOLLOWERS:
                ids.add(person.id)
    return ids


def load_featuring(viewer_id: int | None, accounts: Iterable[Account], approving: Iterable[int] = ()) -> Relations:
    """Load the relations that decide whether the viewer may feature the accounts; without `featuring_ids`, no query is made."""
    return load_hiding(viewer_id, featuring_ids(accounts, approving))


def _load(sql: str, viewer_id: int | None, account_ids: Iterable[int]) -> Relations:
    ids = sorted({account_id for account_id in account_ids if account_id != viewer_id})
    if viewer_id is None:
        return NO_RELATIONS
    if not ids:
        return Relations(viewer_id=viewer_id)
    return _relations(viewer_id, _rows(sql, viewer=viewer_id, ids=ids))


def load_relations_of(
    viewer_ids: Collection[int], account_ids: Collection[int], *, followable: Collection[int] | None = None
) -> dict[int, Relations]:
    """Load follows, blocks and mutes between many viewers and these accounts, keyed by viewer id. Needs one query.

    Viewers without relations are left out (use `Relations(viewer_id=...)`). Follow requests, and follows of the viewers
    by these accounts, are not read. `followable` limits the accounts whose followers are read.
    """
    if not viewer_ids or not account_ids:
        return {}
    # An array literal is ten times faster for thousands of ids than the driver's adaptation of each number.
    written = "{" + ",".join(map(str, viewer_ids)) + "}"
    ids = list(account_ids)
    by_viewer: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for kind, viewer_id, *row in _rows(
        _RELATIONS_OF_VIEWERS, viewers=written, ids=ids, followable=ids if followable is None else list(followable)
    ):
        if row[0] != viewer_id:
            by_viewer[viewer_id].append((kind, *row))
    return {viewer_id: _relations(viewer_id, rows) for viewer_id, rows in by_viewer.items()}


def load_known_relations(
    viewer_id: int, account_ids: Iterable[int], *, with_suspended: bool
) -> tuple[set[int], Relations]:
    """Return the ids of known accounts (suspended ones only if `with_suspended`), and the relations to them, in one query."""
    ids = sorted(set(account_ids))
    if not ids:
        return set(), Relations(viewer_id=viewer_id)
    rows = _rows(_RELATIONS_WITH_STATE, viewer=viewer_id, ids=ids)
    known = {account_id for kind, account_id, flag, *_ in rows if kind == "known" and (with_suspended or not flag)}
    return known, _relations(viewer_id, [row for row in rows if row[0] != "known"])


def load_hidden(viewer_id: int) -> Hidden:
    """Load all blocks, mutes and blocked servers of the viewer, for views of any account's posts. Takes one query."""
    sets: dict[str, set[int]] = defaultdict(set)
    muting: dict[int, datetime | None] = {}
    domains: set[str] = set()
    for kind, account_id, expires_at, domain in _rows(_HIDDEN, viewer=viewer_id):
        if kind == "muting":
            muting[account_id] = expires_at
        elif kind == "domains":
            domains.add(domain)
        else:
            sets[kind].add(account_id)
    return Hidden(frozenset(sets["blocking"]), frozenset(sets["blocked_by"]), muting, frozenset(domains))


def load_block_pairs(block_ids: Collection[int]) -> set[tuple[int, int]]:
    """Load the given blocks that still exist, as (blocking, blocked) account ids. Takes one query."""
    return set(Block.objects.filter(id__one_of=block_ids).values_list("account_id", "target_id"))


def load_nearby_pairs(account_ids: Collection[int], target_ids: Collection[int]) -> set[tuple[int, int]]:
    """Load the pairs (account id, target id) in which the account follows the target or has requested to; one query."""
    if not account_ids or not target_ids:
        return set()
    follows, requests = (
        model._default_manager.filter(account_id__one_of=account_ids, target_id__one_of=target_ids)
        for model in (Follow, FollowRequest)
    )
    pairs = ("account_id", "target_id")
    return set(follows.values_list(*pairs).union(requests.values_list(*pairs)))


_FOLLOWERS_SINCE: Final = """
SELECT f.account_id, f.target_id
  FROM unnest(%(followers)s::bigint[], %(targets)s::bigint[]) asked (account_id, target_id)
  JOIN accounts_follow f USING (account_id, target_id) WHERE f.created_at <= %(moment)s
"""


def load_followers_since(pairs: Collection[tuple[int, int]], moment: datetime) -> set[tuple[int, int]]:
    """Return the given pairs (follower, followed) whose follow existed at `moment`; one query (none without pairs)."""
    if not pairs:
        return set()
    followers, targets = map(list, zip(*pairs, strict=True))
    return {
        (follower_id, target_id)
        for follower_id, target_id in _rows(_FOLLOWERS_SINCE, followers=followers, targets=targets, moment=moment)
    }


def is_awaited(account_id: int) -> bool:
    """Tell whether any follower wants to be notified of the account's posts."""
    return bool(rows_of(_AWAITED, {"account": account_id}))


def blocks_domain(account_id: int, domain: str) -> bool:
    """Tell whether the account blocks this server."""
    return AccountDomainBlock.objects.filter(account_id=account_id, domain=domain).exists()


def list_blocked_domains(account_id: int) -> QuerySet[AccountDomainBlock]:
    """List the servers that the account blocks."""
    return AccountDomainBlock.objects.filter(account_id=account_id)


def find_block(uri: str | None) -> Block | None:
    """Return the block with this ActivityPub id, with its `target`; None when there is none."""
    return None if uri is None else Block.objects.select_related("target").filter(uri=uri).first()


def list_blocked(account_id: int) -> QuerySet[Block]:
    """List the accounts that the account blocks; suspended ones are left out."""
    rows = Block.objects.filter(is_present("target"), account_id=account_id)
    return rows.annotate(person_id=F("target_id"))


def list_muted(account_id: int) -> QuerySet[Mute]:
    """List the accounts that the account mutes now; suspended ones are left out."""
    rows = Mute.objects.filter(is_present("target"), account_id=account_id)
    return rows.filter(Q(expires_at=None) | Q(expires_at__gt=Now())).annotate(person_id=F("target_id"))


def list_all_blocked(account_id: int) -> QuerySet[Block]:
    """List all blocks by the account with their `target`, including blocks of suspended accounts.

    Only the account itself may see this list.
    """
    return Block.objects.filter(account_id=account_id).select_related("target")


def list_blocks_of(account_id: int) -> QuerySet[Block]:
    """List the blocks of the account by other accounts."""
    return Block.objects.filter(target_id=account_id)


def list_mutes_of(account_id: int) -> QuerySet[Mute]:
    """List the unexpired mutes of the account by other accounts."""
    return Mute.objects.filter(Q(expires_at=None) | Q(expires_at__gt=Now()), target_id=account_id)


def list_all_muted(account_id: int) -> QuerySet[Mute]:
    """List all unexpired mutes by the account with their `target`, including mutes of suspended accounts.

    Only the account itself may see this list.
    """
    rows = Mute.objects.filter(account_id=account_id).select_related("target")
    return rows.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))


def _rows(sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return rows_of(sql, parameters)


def _relations(viewer_id: int, rows: Iterable[tuple[Any, ...]]) -> Relations:
    sets: dict[str, set[int]] = defaultdict(set)
    following: dict[int, FollowOptions] = {}
    requested: dict[int, FollowOptions] = {}
    muting: dict[int, MuteOptions] = {}
    notes: dict[int, str] = {}
    for kind, account_id, flag, notify, languages, moment in rows:
        if kind == "following" or kind == "requested":
            plain = flag and not notify and languages is None and moment is None
            chosen = None if languages is None else tuple(languages)
            options = _PLAIN if plain else FollowOptions(flag, notify, chosen, moment)
            (following if kind == "following" else requested)[account_id] = options
        elif kind == "muting":
            muting[account_id] = MuteOptions(flag, moment)
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
        domain_blocking=frozenset(sets["domain_blocking"]),
        domain_blocked_by=frozenset(sets["domain_blocked_by"]),
        read_apart=frozenset(sets["read_apart"]),
        endorsing=frozenset(sets["endorsing"]),
        notes=notes,
        is_remote="is_remote" in sets,
    )
