"""When a delivery is retried, when it is given up, and how long a failing host is paused. Pure decisions.

Source: contract, federation section 12.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

ATTEMPTS: Final = 16
_TEMPORARY: Final = frozenset({401, 408, 429})
_ATTEMPTS_IN_DOUBT: Final = 4
_CIRCUIT: Final = 10
_UNAVAILABLE_AFTER: Final = timedelta(days=7)
_LONGEST_PAUSE: Final = 24 * 3600


class Verdict(StrEnum):
    """What an answer means for a delivery, and for the host that gave it."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    """For good; the host is well."""
    POSTPONED = "postponed"
    """The host is well, and says "not now"."""
    IN_DOUBT = "in doubt"
    """The host is well. Mastodon answers 422 to one of two first requests of an actor that come at once, and keeps nothing
    of it; sent again, it is taken. A few times are enough to know that it was not that."""
    FAILED = "failed"
    """The host is not well."""


def verdict_on(status: int) -> Verdict:
    """What an HTTP status means: 4xx is final except 401, 408, 422 and 429, and so is 501."""
    if 200 <= status < 300:
        return Verdict.ARRIVED
    if status in _TEMPORARY:
        return Verdict.POSTPONED
    if status == 422:
        return Verdict.IN_DOUBT
    if 400 <= status < 500 or status == 501:
        return Verdict.REFUSED
    return Verdict.FAILED


def is_last(verdict: Verdict, attempts: int) -> bool:
    """Whether nothing is tried again after so many attempts, of which the last one ended so."""
    return verdict == Verdict.REFUSED or attempts >= (_ATTEMPTS_IN_DOUBT if verdict == Verdict.IN_DOUBT else ATTEMPTS)


def next_attempt(attempts: int) -> timedelta:
    """The pause after so many attempts: n^4 + 15 s and up to half as much again, so that nobody comes all at once."""
    seconds = attempts**4 + 15
    return timedelta(seconds=seconds * random.uniform(1.0, 1.5))  # noqa: S311  (spreads load, guards nothing)


def host_pause(failures: int, failing_since: datetime, now: datetime) -> timedelta:
    """How long a host is left alone after so many failures in a row.

    Seconds at first, a minute from the tenth on; a host that has failed for a week is probed by one request an hour,
    then every two, up to once a day.
    """
    if now - failing_since > _UNAVAILABLE_AFTER:
        days = (now - failing_since - _UNAVAILABLE_AFTER).days
        return timedelta(seconds=min(3600 * 2 ** min(days, 10), _LONGEST_PAUSE))
    if failures < _CIRCUIT:
        return timedelta(seconds=min(2**failures, 60))
    return timedelta(seconds=min(60 * 2 ** min(failures - _CIRCUIT, 10), 3600))
