"""Events of federation that its own workers handle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class ActivityReceived(Event):
    """A signed activity is stored. What one actor sends is worked off in its order."""

    key: ClassVar[str] = "actor:{actor_id}"
    activity_id: int
    actor_id: int


@dataclass(frozen=True)
class FollowAnswerDue(Event):
    """`account_id` (ours) owes the follower's server an answer for which no other event is published.

    A repeated Follow is accepted again; one that may not be is rejected.
    """

    key: ClassVar[str] = "pair:{follower_id}:{account_id}"
    account_id: int
    follower_id: int
    uri: str
    accepted: bool


@dataclass(frozen=True)
class DeliveriesDue(Event):
    """There may be deliveries to make now. Any number of these is as good as one."""

    key: ClassVar[str] = ""


@dataclass(frozen=True)
class FetchesDue(Event):
    """There may be documents to fetch now. Any number of these is as good as one."""

    key: ClassVar[str] = ""
