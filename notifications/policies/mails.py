"""Rules for when and in which form notifications are mailed; they do not access the database."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final

from accounts.policies.mails import DAILY, NOTIFICATIONS, SUMMARIES, is_on, mode_of
from notifications.models import MailRecord

DELAY: Final = timedelta(minutes=2)
"""Delay between a notification and the mail about it; a notification that has been read by then is not mailed."""

SINGLE_MAILS: Final = 10
"""Maximum number of mails about single notifications per hour; one further mail lists the other notifications of that hour."""

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)

ONLINE_FOR: Final = timedelta(minutes=5)
"""Time after the last activity during which a user counts as online."""

AWAY_AFTER: Final = timedelta(days=7)
"""Time from the last activity to the first summary, and between two summaries."""

LEFT_AFTER: Final = timedelta(days=56)
"""Time after the last activity from which a user gets no more summaries."""

# Margin for the differences between the clocks of the server's machines.
_TOLERANCE: Final = timedelta(minutes=1)


class Form(Enum):
    """Forms of mail for waiting notifications: about the first notification only, about all of them, or no mail yet."""

    SINGLE = 1
    LIST = 2
    NOTHING = 3


def count_this_hour(record: MailRecord, now: datetime) -> int:
    return record.sent if now < record.began_at + HOUR - _TOLERANCE else 0


def form_of(preferences: Mapping[str, Any], record: MailRecord, oldest: datetime, now: datetime) -> Form:
    """Return the form of mail for waiting notifications; `oldest` is the time of the first notification. Depending on their
    preferences, users get one list per day, or SINGLE_MAILS single mails per hour and then one list.
    """
    if mode_of(preferences) == DAILY:
        return Form.LIST if oldest <= now - DAY + _TOLERANCE else Form.NOTHING
    sent_count = count_this_hour(record, now)
    if sent_count < SINGLE_MAILS:
        return Form.SINGLE
    return Form.LIST if sent_count == SINGLE_MAILS else Form.NOTHING


def is_online(preferences: Mapping[str, Any], seen_at: datetime, now: datetime) -> bool:
    """Tell whether mails are held back because the recipient was active recently and does not want mails while online."""
    return not preferences.get("mails_when_online") and seen_at > now - ONLINE_FOR


def is_summary_due(preferences: Mapping[str, Any], record: MailRecord, seen_at: datetime, now: datetime) -> bool:
    """Tell whether a summary is due for a user who was last active at `seen_at`."""
    if not (is_on(preferences, NOTIFICATIONS) and is_on(preferences, SUMMARIES)):
        return False
    if not now - LEFT_AFTER < seen_at <= now - AWAY_AFTER:
        return False
    return record.summary_at is None or record.summary_at <= now - AWAY_AFTER + _TOLERANCE
