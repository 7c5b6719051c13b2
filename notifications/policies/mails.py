"""Decides when and in which form notifications are mailed. Pure decisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final

from accounts.policies.mails import DAILY, NOTIFICATIONS, SUMMARIES, is_on, mode_of
from notifications.models import MailRecord

DELAY: Final = timedelta(minutes=2)
"""Time that the first notification waits for its mail: what is read by then needs none."""

SINGLE_MAILS: Final = 10
"""Mails about single notifications that somebody gets in an hour; one about all others follows, and the next hour."""

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

ONLINE_FOR: Final = timedelta(minutes=5)
"""Time after a sign of somebody in which they are still here."""

AWAY_AFTER: Final = timedelta(days=7)
"""Time from the last sign of somebody to a summary, and the next one after the last."""

LEFT_AFTER: Final = timedelta(days=56)
"""Time from the last sign of somebody after which they get no more summaries."""

# Moments are compared with those that another machine has written.
_TOLERANCE: Final = timedelta(minutes=1)


class Form(Enum):
    """Decisions about several notifications: the first is mailed now, all of them in one mail, or nothing yet."""

    SINGLE = 1
    LIST = 2
    NOTHING = 3


def counted(record: MailRecord, now: datetime) -> int:
    """The mails that somebody has had in the hour that is counted now."""
    return record.sent if now < record.began_at + HOUR - _TOLERANCE else 0


def form_of(preferences: Mapping[str, Any], record: MailRecord, oldest: datetime, now: datetime) -> Form:
    """The form for who has notifications since `oldest`: one mail a day, or SINGLE_MAILS and one more in an hour."""
    if mode_of(preferences) == DAILY:
        return Form.LIST if oldest <= now - DAY + _TOLERANCE else Form.NOTHING
    sent = counted(record, now)
    if sent < SINGLE_MAILS:
        return Form.SINGLE
    return Form.LIST if sent == SINGLE_MAILS else Form.NOTHING


def is_online(preferences: Mapping[str, Any], seen_at: datetime, now: datetime) -> bool:
    """Tell whether somebody has been seen too lately for mails, unless they want these all the same."""
    return not preferences.get("mails_when_online") and seen_at > now - ONLINE_FOR


def is_summary_due(preferences: Mapping[str, Any], record: MailRecord, seen_at: datetime, now: datetime) -> bool:
    """Tell whether it is time for a summary, for who was seen last at `seen_at`."""
    if not (is_on(preferences, NOTIFICATIONS) and is_on(preferences, SUMMARIES)):
        return False
    if not now - LEFT_AFTER < seen_at <= now - AWAY_AFTER:
        return False
    return record.summary_at is None or record.summary_at <= now - AWAY_AFTER + _TOLERANCE
