"""Rules of blocks, mutes and blocked servers, in memory (`Relations`) and in SQL, and the permission to follow.

Only this module and `accounts.queries.relations`, which loads `Relations`, name the tables of blocks, mutes and blocked
servers. A property test checks that both forms agree (contract, behaviours section 14).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.functions import Now

from accounts.models import Account, AccountDomainBlock, Block, Mute
from social.kernel.plans import Slot


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """Options of a follow or request; `direct_since` is when the follower last ended a mute of the followed account."""

    show_reblogs: bool = True
    notify: bool = False
    languages: tuple[str, ...] | None = None
    direct_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class MuteOptions:
    """Options of a mute: whether it hides notifications, and when it ends."""

    hide_notifications: bool = True
    expires_at: datetime | None = None


_EMPTY: Mapping[int, FollowOptions] = MappingProxyType({})
_UNMUTED: Mapping[int, MuteOptions] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Relations:
    """The viewer's relations to the accounts for which they were loaded; without a viewer, all sets are empty.

    Do not look up other accounts: the sets say "no" about every account that was not loaded.
    """

    viewer_id: int | None = None
    following: Mapping[int, FollowOptions] = field(default_factory=lambda: _EMPTY)
    requested: Mapping[int, FollowOptions] = field(default_factory=lambda: _EMPTY)
    followed_by: frozenset[int] = frozenset()
    requested_by: frozenset[int] = frozenset()
    blocking: frozenset[int] = frozenset()
    blocked_by: frozenset[int] = frozenset()
    muting: Mapping[int, MuteOptions] = field(default_factory=lambda: _UNMUTED)
    # Accounts of servers that the viewer blocks, and accounts that block the viewer's server.
    domain_blocking: frozenset[int] = frozenset()
    domain_blocked_by: frozenset[int] = frozenset()
    # Accounts that the viewer reads only in exclusive lists; loaded only if they decide which posts are shown.
    read_apart: frozenset[int] = frozenset()
    endorsing: frozenset[int] = frozenset()
    notes: Mapping[int, str] = field(default_factory=dict)
    # Whether the viewer is an account of another server.
    is_remote: bool = False

    def blocked_either_way(self, account_id: int) -> bool:
        """Tell whether the viewer has blocked the account, or the account has blocked the viewer."""
        return account_id in self.blocking or account_id in self.blocked_by

    def is_blocked_by(self, account_id: int) -> bool:
        """Tell whether the account blocks the viewer or the viewer's server, so that the viewer may not read its posts."""
        return account_id in self.blocked_by or account_id in self.domain_blocked_by

    def hides_any(self, account_ids: Iterable[int]) -> bool:
        """Tell whether the viewer blocks or mutes one of the accounts."""
        return not (self.blocking.isdisjoint(account_ids) and self.muting.keys().isdisjoint(account_ids))

    def joined(self, other: "Relations") -> "Relations":
        """Return these relations, merged with other relations of the same viewer."""
        return replace(
            self,
            viewer_id=self.viewer_id if self.viewer_id is not None else other.viewer_id,
            following={**self.following, **other.following},
            requested={**self.requested, **other.requested},
            followed_by=self.followed_by | other.followed_by,
            requested_by=self.requested_by | other.requested_by,
            blocking=self.blocking | other.blocking,
            blocked_by=self.blocked_by | other.blocked_by,
            muting={**self.muting, **other.muting},
            domain_blocking=self.domain_blocking | other.domain_blocking,
            domain_blocked_by=self.domain_blocked_by | other.domain_blocked_by,
            read_apart=self.read_apart | other.read_apart,
            endorsing=self.endorsing | other.endorsing,
            notes={**self.notes, **other.notes},
            is_remote=self.is_remote or other.is_remote,
        )


NO_RELATIONS = Relations()
_MUTED: Final = MuteOptions()


@dataclass(frozen=True, slots=True)
class Hidden:
    """Accounts and servers that a viewer hides, and accounts that block the viewer; a mute counts until its end."""

    blocking: frozenset[int] = frozenset()
    blocked_by: frozenset[int] = frozenset()
    muting: Mapping[int, datetime | None] = field(default_factory=dict)
    domains: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Tell whether the viewer hides nothing and is blocked by nobody."""
        return not (self.blocking or self.blocked_by or self.muting or self.domains)

    def relations(self, viewer_id: int, domains: Mapping[int, str | None], moment: datetime) -> Relations:
        """Return the viewer's relations at `moment`, without follows, to the accounts whose ids are the keys of `domains`."""
        return Relations(
            viewer_id=viewer_id,
            blocking=self.blocking,
            blocked_by=self.blocked_by,
            muting={
                account_id: _MUTED
                for account_id in self.muting.keys() & domains.keys()
                if (until := self.muting[account_id]) is None or until > moment
            },
            domain_blocking=frozenset(account_id for account_id, domain in domains.items() if domain in self.domains),
        )


# The same rules in SQL. `%(viewer)s` is the id of the viewer's account (0 or NULL for an anonymous viewer). A mute counts until
# its end, which is compared with the time of the statement, because the transaction may have begun long before.
BLOCKED_BY_VIEWER: Final = "SELECT target_id FROM accounts_block WHERE account_id = %(viewer)s"
"""Ids of the accounts that the viewer blocks."""
BLOCKERS_OF_VIEWER: Final = "SELECT account_id FROM accounts_block WHERE target_id = %(viewer)s"
"""Ids of the accounts that block the viewer."""
MUTED_BY_VIEWER: Final = """SELECT target_id FROM accounts_mute
 WHERE account_id = %(viewer)s AND (expires_at IS NULL OR expires_at > statement_timestamp())"""
"""Ids of the accounts that the viewer mutes now."""
DOMAINS_BLOCKED_BY_VIEWER: Final = "SELECT domain FROM accounts_accountdomainblock WHERE account_id = %(viewer)s"
"""Names of the servers that the viewer blocks."""

# This is a scalar subquery, because with EXISTS the planner may read all follows of the viewer, once for each use of the
# condition.
FOLLOWED: Final = (
    "(SELECT 1 FROM accounts_follow f WHERE f.account_id = %(viewer)s AND f.target_id = {author}) IS NOT NULL"
)
"""SQL condition that the viewer follows the account whose id is the expression `{author}`."""
VIEWER_IS_BLOCKED: Final = """(EXISTS (SELECT 1 FROM accounts_block WHERE account_id = {author} AND target_id = %(viewer)s)
  OR EXISTS (SELECT 1 FROM accounts_accountdomainblock WHERE account_id = {author}
              AND domain = (SELECT domain FROM accounts_account WHERE id = %(viewer)s)))"""
"""SQL condition of `Relations.is_blocked_by`, for the account whose id is the expression `{author}`."""


VIEWER_IS_LOCAL: Final = "EXISTS (SELECT 1 FROM accounts_account WHERE id = %(viewer)s AND domain IS NULL)"
"""SQL condition that the viewer is a local account: not remote, and not anonymous."""


def blocked(viewer_id: int | Slot, other: OuterRef) -> Q:
    """Return a condition on a queryset that is true if the viewer blocks the account whose id `other` refers to."""
    return Q(Exists(Block.objects.filter(account_id=viewer_id, target_id=other)))


def blocked_by(viewer_id: int | Slot, author: OuterRef) -> Q:
    """Return a condition for `Relations.is_blocked_by`; `author` refers to the id of the other account."""
    home = Account.objects.filter(id=viewer_id).values("domain")
    return Q(Exists(Block.objects.filter(account_id=author, target_id=viewer_id))) | Q(
        Exists(AccountDomainBlock.objects.filter(account_id=author, domain=Subquery(home)))
    )


def hidden_from(viewer_id: int, person: str) -> Q:
    """Return a condition for accounts that lists hide from the viewer: accounts that the viewer blocks or mutes, and accounts
    that block the viewer. Accounts of blocked servers are not hidden. `person` is the lookup that leads to the account's id.
    """
    other = OuterRef(person)
    active = Q(expires_at=None) | Q(expires_at__gt=Now())
    return blocked(viewer_id, other) | Q(
        Exists(Block.objects.filter(account_id=other, target_id=viewer_id))
        | Exists(Mute.objects.filter(active, account_id=viewer_id, target_id=other))
    )


FOLLOW_LIMIT = 7500
FOLLOW_RATIO = 1.1


def may_follow(account: Account, target: Account, relations: Relations) -> bool:
    """Tell whether `account`, with these `relations`, may follow `target`: no block between them, and neither has moved."""
    return (
        target.id not in relations.blocking
        and target.id not in relations.domain_blocking
        and not relations.is_blocked_by(target.id)
        and target.moved_to_id is None
        and account.moved_to_id is None
    )


def needs_request(account: Account, target: Account) -> bool:
    """Tell whether the target must agree first, because it is locked or remote, or because the follower is limited."""
    return target.locked or not target.local or account.limited


def follow_limit(followers_count: int) -> int:
    """Return the number of accounts that an account with `followers_count` followers may follow."""
    return max(FOLLOW_LIMIT, int(followers_count * FOLLOW_RATIO))
