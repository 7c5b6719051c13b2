"""Counts how many of those who signed up in a period were seen in that and the following ones.

Source: contract, parameters section 6, entities "Admin::Cohort".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from django.db import connection

Frequency = Literal["day", "month"]
#: The longest time that is counted at once, in periods; of a longer one the beginning.
LONGEST: Final[dict[Frequency, int]] = {"day": 31, "month": 12}

_SQL: Final = """
SELECT date_trunc(%(unit)s, created_at AT TIME ZONE 'UTC')::date, date_trunc(%(unit)s, seen_at AT TIME ZONE 'UTC')::date,
       count(*)
  FROM (SELECT created_at, greatest(created_at, active_at, last_login) AS seen_at FROM accounts_user
         WHERE created_at >= %(from)s AND created_at < %(until)s) AS users
 GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Who signed up in the period that begins at `period`; of each period since then how many were seen in or after it."""

    period: date
    size: int
    seen: tuple[tuple[date, int], ...]


def load_cohorts(start: date, end: date, frequency: Frequency) -> list[Cohort]:
    """A cohort for each period between two days, both included, in one statement."""
    periods = _periods(start, end, frequency)
    if not periods:
        return []
    with connection.cursor() as cursor:
        values = {
            "unit": frequency,
            "from": f"{periods[0]}T00:00:00Z",
            "until": f"{_next(periods[-1], frequency)}T00:00:00Z",
        }
        cursor.execute(_SQL, values)
        rows = cursor.fetchall()
    found = []
    for place, period in enumerate(periods):
        mine = [(seen, count) for joined, seen, count in rows if joined == period]
        counts = tuple((later, sum(count for seen, count in mine if seen >= later)) for later in periods[place:])
        found.append(Cohort(period, sum(count for _seen, count in mine), counts))
    return found


def _periods(start: date, end: date, frequency: Frequency) -> list[date]:
    found: list[date] = []
    current = start.replace(day=1) if frequency == "month" else start
    while current <= end and len(found) < LONGEST[frequency]:
        found.append(current)
        current = _next(current, frequency)
    return found


def _next(period: date, frequency: Frequency) -> date:
    return (
        (period.replace(day=28) + timedelta(days=4)).replace(day=1) if frequency == "month" else period + timedelta(1)
    )
