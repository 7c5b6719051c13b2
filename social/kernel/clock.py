"""The current time, and the API's format of times."""

import zoneinfo
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from typing import Final

_EPOCH: Final = date(1970, 1, 1)


def now() -> datetime:
    """Return the current time as an aware datetime in UTC."""
    return datetime.now(UTC)


def days_ago(days: int) -> datetime | None:
    """Return the time this many days ago; None for 0, which means "for ever" in settings."""
    return now() - timedelta(days=days) if days else None


def find_zone(name: str | None) -> zoneinfo.ZoneInfo | None:
    """Return the time zone with this name; None if the name is empty or unknown to this machine."""
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None


def iso(moment: datetime) -> str:
    """Write a moment as `2024-01-31T12:34:56.789Z`, in UTC with milliseconds (contract, behaviours section 1)."""
    moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def iso_seconds(moment: datetime) -> str:
    """Write a moment as `2024-01-31T12:34:56Z`, in UTC, without the fraction of the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"


def iso_ms(milliseconds: int) -> str:
    """Return the same text as `iso`, several times faster, for a time in milliseconds since 1970."""
    days, rest = divmod(milliseconds, 86_400_000)
    seconds, thousandths = divmod(rest, 1000)
    hour, seconds = divmod(seconds, 3600)
    minute, second = divmod(seconds, 60)
    return f"{_day(days)}T{hour:02}:{minute:02}:{second:02}.{thousandths:03}Z"


@lru_cache(maxsize=4096)
def _day(number: int) -> str:
    return (_EPOCH + timedelta(number)).isoformat()


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


@cache
def time_zones() -> frozenset[str]:
    """Return the names of all time zones ("Europe/Berlin"), read once, because searching their files takes 10 ms."""
    return frozenset(zoneinfo.available_timezones())
