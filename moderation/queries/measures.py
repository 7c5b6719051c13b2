"""Counts events by day (UTC): new users, posts, reports, hashtags; and the retention of new users. Source: contract,
parameters section 6, entities "Admin::Measure" and "Admin::Cohort".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, Literal

from django.db import connection

from moderation.queries.figures import completed, days_parameters, subject_parameters


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure over a period: its total, the total of the preceding period (None if not available), and figures by day."""

    key: str
    total: int
    previous: int | None
    days: tuple[tuple[date, int], ...]
    unit: str | None = None
    with_time: bool = False


@dataclass(frozen=True, slots=True)
class _Measure:
    """Definition of a measure: `rows` selects events with a column `day`. `figure` aggregates the events of each day. The same
    expression aggregates all events for the total, unless there is a statement `total`. `parameter` is the name of the
    parameter that the measure needs.
    """

    rows: str
    figure: str = "count(*)"
    parameter: str | None = None
    total: str | None = None
    unit: str | None = None
    with_time: bool = False


# The conditions in brackets below are defined in `moderation.queries.figures`.
def _events(source: str, time: str, condition: str = "TRUE", *, columns: str = "") -> str:
    """Return a SELECT of the events of the period; `time` is the column with the time of an event."""
    day = f"({time} AT TIME ZONE 'UTC')::date AS day"
    period = f"{time} >= %(from)s AND {time} < %(until)s"
    return f"SELECT {day}{columns} FROM {source} WHERE {condition} AND {period}"  # noqa: S608 (texts of this module)


def _of_server(source: str, time: str) -> _Measure:
    """Return a measure of events of the accounts `a` of a server; its total also counts events outside the period."""
    total = f"SELECT count(*) FROM {source} WHERE [there]"  # noqa: S608 (texts of this module)
    return _Measure(_events(source, time, "[there]"), parameter="domain", total=total)


_TAG_USES: Final = """
SELECT t.day, t.account_id, t.uses FROM accounts_taguse t
 WHERE t.tag_id = %(id)s AND t.day >= %(from)s::date AND t.day < %(until)s::date"""
_LOCAL_FAVOURITE: Final = "f.account_id IN (SELECT account_id FROM accounts_user)"
_MEASURES: Final[dict[str, _Measure]] = {
    # A day's figure counts users who posted, or were last active, on that day, because the times of earlier activity are not
    # stored.
    "active_users": _Measure(
        _events("accounts_user u", "u.active_at", columns=", u.account_id")  # noqa: S608 (a text of this module)
        + """ UNION SELECT (s.created_at AT TIME ZONE 'UTC')::date, s.account_id
          FROM statuses_status s WHERE s.local AND [in span]""",
        figure="count(DISTINCT account_id)",
        with_time=True,
    ),
    "new_users": _Measure(_events("accounts_user u", "u.created_at")),
    "interactions": _Measure(
        _events("statuses_favourite f", "f.created_at", _LOCAL_FAVOURITE)  # noqa: S608 (texts of this module)
        + """ UNION ALL SELECT (s.created_at AT TIME ZONE 'UTC')::date FROM statuses_status s
         WHERE s.local AND s.deleted_at IS NULL AND [in span]
           AND (s.reblog_of_id IS NOT NULL OR s.in_reply_to_account_id <> s.account_id)""",
        with_time=True,
    ),
    "opened_reports": _Measure(_events("moderation_report r", "r.created_at")),
    "resolved_reports": _Measure(_events("moderation_report r", "r.action_taken_at")),
    "tag_accounts": _Measure(_TAG_USES, "count(DISTINCT account_id)", parameter="id", with_time=True),
    "tag_uses": _Measure(_TAG_USES, "COALESCE(sum(uses), 0)", parameter="id", with_time=True),
    "tag_servers": _Measure(
        """SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day, COALESCE(a.domain, '') AS server
          FROM statuses_statustag st JOIN statuses_status s ON s.id = st.status_id
          JOIN accounts_account a ON a.id = s.account_id
         WHERE st.tag_id = %(id)s AND s.deleted_at IS NULL AND [tagged in span]""",
        figure="count(DISTINCT server)",
        parameter="id",
    ),
    "instance_accounts": _of_server("accounts_account a", "a.created_at"),
    "instance_media_attachments": _Measure(
        _events(
            "statuses_mediaattachment m JOIN accounts_account a ON a.id = m.account_id",
            "m.created_at",
            "[there]",
            columns=", m.file_size + m.preview_size AS size",
        ),
        figure="COALESCE(sum(size), 0)",
        parameter="domain",
        total="""SELECT COALESCE(sum(m.file_size + m.preview_size), 0) FROM statuses_mediaattachment m
          JOIN accounts_account a ON a.id = m.account_id WHERE [there]""",
        unit="bytes",
    ),
    "instance_reports": _of_server(
        "moderation_report r JOIN accounts_account a ON a.id = r.target_account_id", "r.created_at"
    ),
    "instance_statuses": _Measure(
        """SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day
          FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
         WHERE [there] AND s.deleted_at IS NULL AND [in span]""",
        parameter="domain",
        total="""SELECT COALESCE(sum(greatest(c.statuses_count, 0)), 0) FROM accounts_accountstat c
          JOIN accounts_account a ON a.id = c.account_id WHERE [there]""",
    ),
    # Local followers of accounts of the server `domain`.
    "instance_follows": _of_server("accounts_follow f JOIN accounts_account a ON a.id = f.target_id", "f.created_at"),
    # Followers of local accounts from the server `domain`.
    "instance_followers": _of_server(
        "accounts_follow f JOIN accounts_account a ON a.id = f.account_id", "f.created_at"
    ),
}

#: All measures, each with the name of the parameter that it needs: `id`, `domain` or None.
PARAMETERS: Final = {key: definition.parameter for key, definition in _MEASURES.items()}


def measure(key: str, start: date, end: date, parameters: Mapping[str, Any]) -> Measured:
    """Return the figures for the days from `start` to `end`; `parameters` holds the parameter of the measure.

    Two or three statements.
    """
    definition = _MEASURES[key]
    length = max((end - start).days + 1, 0)
    values = subject_parameters(parameters)
    days = _days(definition, start, end, values)
    before = start - timedelta(days=length), start - timedelta(days=1)
    if definition.total is not None:
        total, previous = _number(definition.total, values), None
    else:
        # With DISTINCT, an account or server that is counted on several days is counted only once in the total.
        total = _total(definition, start, end, values) if "DISTINCT" in definition.figure else sum(days.values())
        previous = _total(definition, *before, values)
    days_shown = tuple((day, days.get(day, 0)) for day in (start + timedelta(days=number) for number in range(length)))
    return Measured(key, total, previous, days_shown, definition.unit, definition.with_time)


def _days(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> dict[date, int]:
    with connection.cursor() as cursor:
        sql = f"SELECT day, {what.figure} FROM ({what.rows}) AS counted GROUP BY day"  # noqa: S608 (texts of this module)
        cursor.execute(completed(sql), {**values, **days_parameters(start, end)})
        return {day: int(count) for day, count in cursor.fetchall()}


def _total(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> int:
    sql = f"SELECT {what.figure} FROM ({what.rows}) AS counted"  # noqa: S608 (texts of this module)
    return _number(sql, {**values, **days_parameters(start, end)})


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
    """Users who signed up in the period that begins at `period`; `seen` has, for this and each later period, the number of
    these users who were seen in that period or later.
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
    cohorts = []
    for place, period in enumerate(periods):
        joined = [(seen, count) for began, seen, count in rows if began == period]
        counts = tuple((later, sum(count for seen, count in joined if seen >= later)) for later in periods[place:])
        cohorts.append(Cohort(period, sum(count for _seen, count in joined), counts))
    return cohorts


def _periods(start: date, end: date, frequency: Frequency) -> list[date]:
    periods: list[date] = []
    current = start.replace(day=1) if frequency == "month" else start
    while current <= end and len(periods) < PERIODS_LIMITS[frequency]:
        periods.append(current)
        current = _next_period(current, frequency)
    return periods


def _next_period(period: date, frequency: Frequency) -> date:
    return (
        (period.replace(day=28) + timedelta(days=4)).replace(day=1) if frequency == "month" else period + timedelta(1)
    )
