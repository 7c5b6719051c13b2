"""Conditions and parameters shared by the statements of measures and dimensions; cache keys of their figures."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from accounts.models import Domain
from social.kernel import clock
from social.kernel.ids import first_at

#: Maximum age of a cached figure of a server, in seconds.
FIGURES_AGE: Final = 300
# The dimension whose parts are servers.
_SERVERS_DIMENSION: Final = "servers"

# The time in the id of a remote post may differ from `created_at`, but by less than two days.
_LEEWAY: Final = timedelta(days=2)
# CASE instead of a second condition, because with two conditions on the period, the planner would multiply their selectivities
# and estimate too few posts.
_TIMES: Final = "CASE WHEN s.created_at >= %(from)s THEN s.created_at < %(until)s ELSE FALSE END"
_CONDITIONS: Final = {
    # An account `a` of the server `domain` in the parameters.
    "[there]": "(lower(a.domain) = %(domain)s OR (%(subdomains)s AND lower(a.domain) LIKE %(under)s))",
    # A post `s` of the period. The id of a post gives the approximate time of writing, and has an index.
    "[in span]": f"s.id >= %(first_id)s AND s.id < %(end_id)s AND {_TIMES}",
    # A row `st` (hashtag of a post) whose post `s` is from the period.
    "[tagged in span]": f"st.status_id >= %(first_id)s AND st.status_id < %(end_id)s AND {_TIMES}",
}


def completed(sql: str) -> str:
    """Return the statement with the names in brackets replaced by their conditions."""
    for name, condition in _CONDITIONS.items():
        sql = sql.replace(name, condition)
    return sql


def days_parameters(start: date, end: date) -> dict[str, Any]:
    """Return the parameters of a statement about these days (UTC), both included."""
    first, last = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (start, end))
    return {
        "from": f"{start}T00:00:00Z",
        "until": f"{end + timedelta(days=1)}T00:00:00Z",
        "first_id": first_at(first - _LEEWAY),
        "end_id": first_at(last + timedelta(days=1) + _LEEWAY),
    }


def subject_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a statement about the given hashtag or server."""
    domain = str(parameters.get("domain", "")).strip().lower()
    return {
        "id": parameters.get("id", 0),
        "domain": domain,
        "under": "%." + domain.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_"),
        "subdomains": bool(parameters.get("include_subdomains")),
    }


def fragment_keys(
    kind: str, start: date, end: date, parameters: Mapping[str, Mapping[str, Any]], *sort: str
) -> dict[str, str]:
    """Return cache keys by figure, for figures of one known server and the ranking of servers (the dimension `servers`); other
    figures are not cached. A key changes every FIGURES_AGE seconds. `sort` holds further values on which a figure depends.
    """
    fragments = {
        key: subject_parameters(values)
        for key, values in parameters.items()
        if "domain" in values or key == _SERVERS_DIMENSION
    }
    names = {values["domain"] for values in fragments.values()} - {""}
    servers = dict(Domain.objects.filter(name__one_of=names).values_list("name", "id")) if names else {}
    servers[""] = 0
    age = int(clock.now().timestamp()) // FIGURES_AGE
    return {
        key: ":".join(map(str, (kind, key, start, end, servers[name], int(values["subdomains"]), *sort, age)))
        for key, values in fragments.items()
        if (name := values["domain"]) in servers
    }
