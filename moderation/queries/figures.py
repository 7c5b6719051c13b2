"""Conditions and parameters that the statements of measures and dimensions share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from social.kernel.ids import first_at

# A post of another server may have its id from another moment than its time, but not from another day.
_LEEWAY: Final = timedelta(days=2)
# Not as two conditions: beside the ids the planner would count the span twice, and expect few posts where there are many.
_TIMES: Final = "CASE WHEN s.created_at >= %(from)s THEN s.created_at < %(until)s ELSE FALSE END"
_CONDITIONS: Final = {
    # An account `a` of the server asked for.
    "[there]": "(lower(a.domain) = %(domain)s OR (%(subdomains)s AND lower(a.domain) LIKE %(under)s))",
    # A post `s` of the days asked for. Its id says nearly when it was written, and has an index.
    "[in span]": f"s.id >= %(first_id)s AND s.id < %(end_id)s AND {_TIMES}",
    # The same of a row `st` of a hashtag and its post `s`.
    "[tagged in span]": f"st.status_id >= %(first_id)s AND st.status_id < %(end_id)s AND {_TIMES}",
}


def completed(sql: str) -> str:
    """The statement with its conditions in place of their names."""
    for name, condition in _CONDITIONS.items():
        sql = sql.replace(name, condition)
    return sql


def days_parameters(start: date, end: date) -> dict[str, Any]:
    """Parameters of a statement about these days (UTC), both included."""
    first, last = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (start, end))
    return {
        "from": f"{start}T00:00:00Z",
        "until": f"{end + timedelta(days=1)}T00:00:00Z",
        "first_id": first_at(first - _LEEWAY),
        "end_id": first_at(last + timedelta(days=1) + _LEEWAY),
    }


def subject_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a statement about the hashtag or the server that is given."""
    domain = str(given.get("domain", "")).strip().lower()
    return {
        "id": given.get("id", 0),
        "domain": domain,
        "under": "%." + domain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_"),
        "subdomains": bool(given.get("include_subdomains")),
    }
