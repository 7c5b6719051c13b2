"""Counts what has happened on this server, day by day: new people, posts, reports, hashtags, other servers.

Source: contract, parameters section 6, entities "Admin::Measure". Days are those of UTC. Each measure is one statement for
its days and totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.db import connection


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure over a time: the sum, that of as long a time before (None where there is none), and each day's."""

    key: str
    total: int
    previous: int | None
    days: tuple[tuple[date, int], ...]
    unit: str | None = None
    with_time: bool = False


@dataclass(frozen=True, slots=True)
class _Measure:
    """`rows` selects what counts as (day, thing, weight); a thing counts once a day and once in the sum if `distinct`.

    `parameter` names what has to be given with it. `total` selects the sum where it is not that of the days.
    """

    rows: str
    parameter: str | None = None
    distinct: bool = False
    total: str | None = None
    unit: str | None = None
    with_time: bool = False


# What stands for `[there]` in the statements below: an account `a` of the server asked for.
_THERE: Final = "(lower(a.domain) = %(domain)s OR (%(subdomains)s AND lower(a.domain) LIKE %(under)s))"


_TAG_POSTS: Final = """
SELECT (s.created_at AT TIME ZONE 'UTC')::date AS day, COALESCE(a.domain, '') AS thing, 1 AS weight
  FROM statuses_statustag st JOIN statuses_status s ON s.id = st.status_id JOIN accounts_account a ON a.id = s.account_id
 WHERE st.tag_id = %(id)s AND s.deleted_at IS NULL AND s.created_at >= %(from)s AND s.created_at < %(until)s"""

_MEASURES: Final[dict[str, _Measure]] = {
    # Who was last seen, or wrote something, on that day: what people did on the days before is not kept.
    "active_users": _Measure(
        """
        SELECT (active_at AT TIME ZONE 'UTC')::date AS day, account_id::text AS thing, 1 AS weight FROM accounts_user
         WHERE active_at >= %(from)s AND active_at < %(until)s
        UNION SELECT (s.created_at AT TIME ZONE 'UTC')::date, s.account_id::text, 1 FROM statuses_status s
         WHERE s.local AND s.created_at >= %(from)s AND s.created_at < %(until)s""",
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
          FROM statuses_favourite f JOIN accounts_account a ON a.id = f.account_id
         WHERE a.domain IS NULL AND f.created_at >= %(from)s AND f.created_at < %(until)s
        UNION ALL SELECT (s.created_at AT TIME ZONE 'UTC')::date, s.id::text, 1 FROM statuses_status s
         WHERE s.local AND s.deleted_at IS NULL AND s.created_at >= %(from)s AND s.created_at < %(until)s
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
         WHERE [there] AND s.deleted_at IS NULL AND s.created_at >= %(from)s AND s.created_at < %(until)s""",
        parameter="domain",
        total="""SELECT COALESCE(sum(greatest(c.statuses_count, 0)), 0) FROM accounts_accountstat c
          JOIN accounts_account a ON a.id = c.account_id WHERE [there]""",
    ),
    # People here who follow somebody there.
    "instance_follows": _Measure(
        """SELECT (f.created_at AT TIME ZONE 'UTC')::date AS day, f.id::text AS thing, 1 AS weight
          FROM accounts_follow f JOIN accounts_account a ON a.id = f.target_id
         WHERE [there] AND f.created_at >= %(from)s AND f.created_at < %(until)s""",
        parameter="domain",
        total="SELECT count(*) FROM accounts_follow f JOIN accounts_account a ON a.id = f.target_id WHERE [there]",
    ),
    # People there who follow somebody here.
    "instance_followers": _Measure(
        """SELECT (f.created_at AT TIME ZONE 'UTC')::date AS day, f.id::text AS thing, 1 AS weight
          FROM accounts_follow f JOIN accounts_account a ON a.id = f.account_id
         WHERE [there] AND f.created_at >= %(from)s AND f.created_at < %(until)s""",
        parameter="domain",
        total="SELECT count(*) FROM accounts_follow f JOIN accounts_account a ON a.id = f.account_id WHERE [there]",
    ),
}


#: The measures that are of something, which is given under their names.
PARAMETRIC: Final = tuple(key for key, what in _MEASURES.items() if what.parameter is not None)


def is_measure(key: str) -> bool:
    """Whether there is a measure of this name."""
    return key in _MEASURES


def parameter_of(key: str) -> str | None:
    """What has to be given with a measure: `id`, `domain` or None."""
    return _MEASURES[key].parameter


def measure(key: str, start: date, end: date, given: Mapping[str, Any]) -> Measured:
    """Count from the day `start` to the day `end`, both included; `given` holds its parameter. Two or three statements."""
    what = _MEASURES[key]
    length = max((end - start).days + 1, 0)
    domain = str(given.get("domain", "")).strip().lower()
    values = {
        "id": given.get("id", 0),
        "domain": domain,
        "under": "%." + domain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_"),
        "subdomains": bool(given.get("include_subdomains")),
    }
    days = _days(what, start, end, values)
    if what.total is not None:
        total, previous = _number(what.total, values), None
    else:
        total = _total(what, start, end, values)
        previous = _total(what, start - timedelta(days=length), start - timedelta(days=1), values)
    shown = tuple((day, days.get(day, 0)) for day in (start + timedelta(days=number) for number in range(length)))
    return Measured(key, total, previous, shown, what.unit, what.with_time)


def _days(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> dict[date, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            _selected(what, "day, ", " GROUP BY day").replace("[there]", _THERE), _between(start, end, values)
        )
        return {day: int(count) for day, count in cursor.fetchall()}


def _total(what: _Measure, start: date, end: date, values: Mapping[str, Any]) -> int:
    return _number(_selected(what), _between(start, end, values))


def _selected(what: _Measure, columns: str = "", grouped: str = "") -> str:
    figure = "count(DISTINCT thing)" if what.distinct else "COALESCE(sum(weight), 0)"
    return "".join(("SELECT ", columns, figure, " FROM (", what.rows, ") AS counted", grouped))


def _between(start: date, end: date, values: Mapping[str, Any]) -> dict[str, Any]:
    return {**values, "from": f"{start}T00:00:00Z", "until": f"{end + timedelta(days=1)}T00:00:00Z"}


def _number(sql: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql.replace("[there]", _THERE), values)
        (number,) = cursor.fetchone() or (0,)
    return int(number)
