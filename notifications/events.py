"""Events of notifications that other apps may subscribe to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class NotificationMade(Event):
    """A notification was made; streams and, later, Web Push deliver it."""

    key: ClassVar[str] = "notification:{notification_id}"
    notification_id: int
    account_id: int


@dataclass(frozen=True)
class VotersWaiting(Event):
    """A poll has ended that has more voters than are notified in one step: those with an account id above `after_id`."""

    key: ClassVar[str] = "poll:{poll_id}"
    poll_id: int
    after_id: int


@dataclass(frozen=True)
class FollowersWaiting(Event):
    """A post has more followers to notify than are notified in one step: those whose follow is newer than `after_id`."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    after_id: int


@dataclass(frozen=True)
class BoostersWaiting(Event):
    """An edited post has more boosts than are notified of in one step: those with an id above `after_id`."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    after_id: int


@dataclass(frozen=True)
class QuotersWaiting(Event):
    """An edited post has more quotes than are notified of in one step: those with an id above `after_id`."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    after_id: int
