"""Knows how a viewer stands to other accounts, as a value: loaded once, asked by everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """What a follow, or a request to follow, asks for."""

    show_reblogs: bool = True
    notify: bool = False
    languages: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class MuteOptions:
    """How far a mute goes and when it ends."""

    hide_notifications: bool = True
    expires_at: datetime | None = None


_EMPTY: Mapping[int, FollowOptions] = MappingProxyType({})
_UNMUTED: Mapping[int, MuteOptions] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Relations:
    """The viewer's relations to the accounts that were asked for (and perhaps others: sets may hold more).

    Without a viewer everything is empty. Ids not asked for must not be looked up: absence means "no".
    """

    viewer_id: int | None = None
    following: Mapping[int, FollowOptions] = field(default_factory=lambda: _EMPTY)
    requested: Mapping[int, FollowOptions] = field(default_factory=lambda: _EMPTY)
    followed_by: frozenset[int] = frozenset()
    requested_by: frozenset[int] = frozenset()
    blocking: frozenset[int] = frozenset()
    blocked_by: frozenset[int] = frozenset()
    muting: Mapping[int, MuteOptions] = field(default_factory=lambda: _UNMUTED)
    # Filled when personal domain blocks, endorsements and notes exist.
    domain_blocking: frozenset[int] = frozenset()
    endorsing: frozenset[int] = frozenset()
    notes: Mapping[int, str] = field(default_factory=dict)

    def blocked_either_way(self, account_id: int) -> bool:
        """Whether one of the two has blocked the other."""
        return account_id in self.blocking or account_id in self.blocked_by

    def hides(self, account_id: int) -> bool:
        """Whether the viewer should not be shown posts of the account in lists: blocked, blocking, muted or domain."""
        return self.blocked_either_way(account_id) or account_id in self.muting or account_id in self.domain_blocking


NOBODY = Relations()
