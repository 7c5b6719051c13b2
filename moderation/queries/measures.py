"""Counts events on this server by day: new users, posts, reports, hashtags; and the retention of the users who signed up.

Source: contract, parameters section 6, entities "Admin::Measure". Days are in UTC. Each measure has one SELECT, which
serves its days and its totals.

Source: contract, parameters section 6, entities "Admin::Cohort".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, Literal

from django.db import connection

from moderation.queries.figures import completed, days_parameters, subject_parameters


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure over a period: its total, the total of the preceding period of the same length (None if not available), and
    the figure of each day.
    """

    key: str
    total: int
    previous: int | None
    days: tuple[tuple[date, int], ...]
    unit: str | None = None
    with_time: bool = False


@dataclass(frozen=True, slots=True)
class _Measure:
    """Definition of a measure. `rows` selects the counted events with the columns day, thing and weight; with `distinct`, each
    thing counts once per day, and once in the total.

    `parameter` is the name of the parameter that the measure needs. `total` selects the overall figure if it is not simply
    the sum of the daily figures.
    """

    rows: str
    parameter: str | None = None
    distinct: bool = False
    total: str | None = None
    unit: str | None = None
    with_time: bool = False


# The conditions in brackets below are defined in `moderation.queries.figures`.
_TAG_POSTS: Final = """
SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day, COALESCE(a.domain, '') AS thing, 1 AS weight
  FROM statuses_statustag st JOIN statuses_status s ON s.id = st.status_id JOIN accounts_account a ON a.id = s.account_id
 WHERE st.tag_id = %(id)s AND s.deleted_at IS NULL AND [tagged in span]"""
_MEASURES: Final[dict[str, _Measure]] = {
    # The figure of a day counts users who were last active, or last posted, on that day: earlier activity is not stored.
    "active_users": _Measure(
        """
        SELECT (active_at AT TIME ZONE 'UTC')::date AS day, account_id::text AS thing, 1 AS weight FROM accounts_user
         WHERE active_at >= %(from)s AND active_at < %(until)s
        UNION SELECT (s.created_at AT TIME ZONE 'UTC')::date, s.account_id::text, 1 FROM statuses_status s
         WHERE s.local AND [in span]""",
        distinct=True,
        with_time=True,
    ),
    "new_users": _Measure(
        """SELECT (created_at AT TIME ZONE 'UTC')::date AS day, id::text AS thing, 1 AS weight FROM accounts_user
         WHERE created_at >= %(from)s AND created_at < %(until)s"""
    ),
    "interactions": _Measure(
        """
        SELECT (f.created_at AT TIME ZONE 'UTC')::date AS day, f.id::text AS thing, 1 AS weight
          FROM statuses_favourite f
         WHERE f.account_id IN (SELECT account_id FROM accounts_user) AND f.created_at >= %(from)s AND f.created_at < %(until)s
        UNION ALL SELECT (s.created_at AT TIME ZONE 'UTC')::date, s.id::text, 1 FROM statuses_status s
         WHERE s.local AND s.deleted_at IS NULL AND [in span]
           AND (s.reblog_of_id IS NOT NULL OR s.in_reply_to_account_id <> s.account_id)""",
        with_time=True,
    ),
    "opened_reports": _Measure(
        """SELECT (created_at AT TIME ZONE 'UTC')::date AS day, id::text AS thing, 1 AS weight FROM moderation_report
         WHERE created_at >= %(from)s AND created_at < %(until)s"""
    ),
    "resolved_reports": _Measure(
        """SELECT (action_taken_at AT TIME ZONE 'UTC')::date AS day, id::text AS thing, 1 AS weight FROM moderation_report
         WHERE action_taken_at >= %(from)s AND action_taken_at < %(until)s"""
    ),
    "tag_accounts": _Measure(
        "SELECT t.day, t.account_id::text AS thing, 1 AS weight FROM accounts_taguse t"
        " WHERE t.tag_id = %(id)s AND t.day >= %(from)s::date AND t.day < %(until)s::date",
        parameter="id",
        distinct=True,
        with_time=True,
    ),
    "tag_uses": _Measure(
        "SELECT t.day, t.account_id::text AS thing, t.uses AS weight FROM accounts_taguse t"
        " WHERE t.tag_id = %(id)s AND t.day >= %(from)s::date AND t.day < %(until)s::date",
        parameter="id",
        with_time=True,
    ),
    "tag_servers": _Measure(_TAG_POSTS, parameter="id", distinct=True),
    "instance_accounts": _Measure(
        """SELECT (a.created_at AT TIME ZONE 'UTC')::date AS day, a.id::text AS thing, 1 AS weight FROM accounts_account a
         WHERE [there] AND a.created_at >= %(from)s AND a.created_at < %(until)s""",
        parameter="domain",
        total="SELECT count(*) FROM accounts_account a WHERE [there]",
    ),
    "instance_media_attachments": _Measure(
        """SELECT (m.created_at AT TIME ZONE 'UTC')::date AS day, m.id::text AS thing, m.file_size + m.preview_size AS weight
          FROM statuses_mediaattachment m JOIN accounts_account a ON a.id = m.account_id
         WHERE [there] AND m.created_at >= %(from)s AND m.created_at < %(until)s""",
        parameter="domain",
        total="""SELECT COALESCE(sum(m.file_size + m.preview_size), 0) FROM statuses_mediaattachment m
          JOIN accounts_account a ON a.id = m.account_id WHERE [there]""",
        unit="bytes",
    ),
    "instance_reports": _Measure(
        """SELECT (r.created_at AT TIME ZONE 'UTC')::date AS day, r.id::text AS thing, 1 AS weight
          FROM moderation_report r JOIN accounts_account a ON a.id = r.target_account_id
         WHERE [there] AND r.created_at >= %(from)s AND r.created_at < %(until)s""",
        parameter="domain",
        total="""SELECT count(*) FROM moderation_report r JOIN accounts_account a ON a.id = r.target_account_id
         WHERE [there]""",
    ),
    "instance_statuses": _Measure(
        """SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day, s.id::text AS thing, 1 AS weight
          FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
         WHERE [there] AND s.deleted_at IS NULL AND [in span]""",
        parameter="domain",
        total="""SELECT COALESCE(sum(greatest(c.statuses_count, 0)), 0) FROM accounts_accountstat c
          JOIN accounts_account a ON a.id = c.account_id WHERE [there]""",
    ),
    # Local followers of accounts of the server `domain`.
    "instance_follows": _Measure(
        """SELECT (f.created_at AT TIME ZONE 'UTC')::date AS day, f.id::text AS thing, 1 AS weight
          FROM accounts_follow f JOIN accounts_account a ON a.id = f.target_id
         WHERE [there] AND f.created_at >= %(from)s AND f.created_at < %(until)s""",
        parameter="domain",
        total="SELECT count(*) FROM accounts_follow f JOIN accounts_account a ON a.id = f.target_id WHERE [there]",
    ),
    # Followers of local accounts from the server `domain`.
    "instance_followers": _Measure(
        """SELECT (f.created_at AT TIME ZONE 'UTC')::date AS day, f.id::text AS thing, 1 AS weight
          FROM accounts_follow f JOIN accounts_account a ON a.id = f.account_id
         WHERE [there] AND f.created_at >= %(from)s AND f.created_at < %(until)s""",
        parameter="domain",
        total="SELECT count(*) FROM accounts_follow f JOIN accounts_account a ON a.id = f.account_id WHERE [there]",
    ),
}

#: Measures that take a parameter, which is sent under the measure's name.
PARAMETRIC: Final = tuple(key for key, what in _MEASURES.items() if what.parameter is not None)


def is_measure(key: str) -> bool:
    """Tell whether a measure of this name exists."""
    return key in _MEASURES


def parameter_of(key: str) -> str | None:
    """Return the name of the parameter that a measure needs: `id`, `domain` or None."""
    return _MEASURES[key].parameter


def measure(key: str, start: date, end: date, parameters: Mapping[str, Any]) -> Measured:
    """Return the figures from the day `start` to the day `end`, both included; `parameters` holds the measure's parameter. Two
    or three statements.
    """
    what = _MEASURES[key]
    length = max((end - start).days + 1, 0)
    values = subject_parameters(parameters)
    days = _days(what, start, end, values)
    if what.total is not None:
        total, previous = _number(what.total, values), None
    else:
        total = _total(what, start, end, values) if what.distinct else sum(days.values())
        previous = _total(what, start - timedelta(days=length), start - timedelta(days=1), values)
    days_shown = tuple((day, days.get(day, 0)) for day in (start + timedelta(days=number) for number in range(length)))
    return Measured(key, total, previous, days_shown, what.unit, what.with_time)


def _days(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> dict[date, int]:
    with connection.cursor() as cursor:
        sql = completed(_select(what, "day, ", " GROUP BY day"))
        cursor.execute(sql, {**values, **days_parameters(start, end)})
        return {day: int(count) for day, count in cursor.fetchall()}


def _total(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> int:
    return _number(_select(what), {**values, **days_parameters(start, end)})


def _select(what: _Measure, columns: str = "", grouped: str = "") -> str:
    figure = "count(DISTINCT thing)" if what.distinct else "COALESCE(sum(weight), 0)"
    return "".join(("SELECT ", columns, figure, " FROM (", what.rows, ") AS counted", grouped))


def _number(sql: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(completed(sql), values)
        (number,) = cursor.fetchone() or (0,)
    return int(number)


Frequency = Literal["day", "month"]

#: Maximum number of periods of one request; further periods at the end are left out.
PERIODS_LIMITS: Final[dict[Frequency, int]] = {"day": 31, "month": 12}
_SQL: Final = """
SELECT date_trunc(%(unit)s, created_at AT TIME ZONE 'UTC')::date, date_trunc(%(unit)s, seen_at AT TIME ZONE 'UTC')::date,
       count(*)
  FROM (SELECT created_at, greatest(created_at, active_at, last_login) AS seen_at FROM accounts_user
         WHERE created_at >= %(from)s AND created_at < %(until)s) AS users
 GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Users who signed up in the period that begins at `period`; `seen` has, for each period since then, the number of
    these users who were seen in or after that period.
    """

    period: date
    size: int
    seen: tuple[tuple[date, int], ...]


def load_cohorts(start: date, end: date, frequency: Frequency) -> list[Cohort]:
    """Return a cohort for each period between two days, both included, in one statement."""
    periods = _periods(start, end, frequency)
    if not periods:
        return []
    with connection.cursor() as cursor:
        values = {
            "unit": frequency,
            "from": f"{periods[0]}T00:00:00Z",
            "until": f"{_next_period(periods[-1], frequency)}T00:00:00Z",
        }
        cursor.execute(_SQL, values)
        rows = cursor.fetchall()
    found = []
    for place, period in enumerate(periods):
        mine = [(seen, count) for joined, seen, count in rows if joined == period]
        counts = tuple(
            (period_end, sum(count for seen, count in mine if seen >= period_end)) for period_end in periods[place:]
        )
        found.append(Cohort(period, sum(count for _seen, count in mine), counts))
    return found


def _periods(start: date, end: date, frequency: Frequency) -> list[date]:
    found: list[date] = []
    current = start.replace(day=1) if frequency == "month" else start
    while current <= end and len(found) < PERIODS_LIMITS[frequency]:
        found.append(current)
        current = _next_period(current, frequency)
    return found


def _next_period(period: date, frequency: Frequency) -> date:
    return (
        (period.replace(day=28) + timedelta(days=4)).replace(day=1) if frequency == "month" else period + timedelta(1)
    )
