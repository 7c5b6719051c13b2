"""Knows what happens at the bell that others may want to hear of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class NotificationMade(Event):
    """Somebody has been told something; streams and, later, Web Push carry it on."""

    key: ClassVar[str] = "notification:{notification_id}"
    notification_id: int
    account_id: int


@dataclass(frozen=True)
class FollowersWaiting(Event):
    """A post has more followers to notify than are notified in one step: those whose follow is newer than `after_id`."""

    key: ClassVar[str] = "status:{status_id}"
    status_id: int
    after_id: int
