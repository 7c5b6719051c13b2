"""The first page of the admin: what waits for staff, how the server is, and how it grows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.users import acting
from accounts.models.user import Permission
from accounts.policies.staff import can
from moderation.queries.dimensions import load_parts
from moderation.queries.measures import Cohort, Measured, load_cohorts, measure
from social.api import staff_navigation
from social.api.staff_columns import moment
from social.kernel import clock, outbox
from social.kernel.runner import Host
from social.queues import LANES, QUEUES

DAYS: Final = 30
MONTHS: Final = 6
HOSTS_SHOWN: Final = 5
SOURCES_SHOWN: Final = 8
_LANE_NAMES: Final = {
    "local": gettext_lazy("Within this server"),
    "ingress": gettext_lazy("Received from other servers"),
    "network": gettext_lazy("Sent to other servers"),
    "media": gettext_lazy("Media"),
}


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The context of the first page with what the role of this person lets them see, in at most 20 statements."""
    by = acting(request)
    context["tasks"] = _tasks(request)
    if can(by, Permission.VIEW_DEVOPS):
        context |= {"lanes": _lanes(), "hosts": _hosts(), "space": load_parts("space_usage", *_period(), {}, 0)}
    if can(by, Permission.VIEW_DASHBOARD):
        start, end = _period()
        context |= {
            "charts": [
                _line(_("People who signed up"), measure("new_users", start, end, {})),
                _line(_("People who were active"), measure("active_users", start, end, {})),
            ],
            "sources": load_parts("sources", start, end, {}, SOURCES_SHOWN),
            "retention": _retention(load_cohorts(_months_ago(end, MONTHS - 1), end, "month")),
        }
    return context


def _period() -> tuple[Any, Any]:
    today = clock.now().astimezone(UTC).date()
    return today - timedelta(days=DAYS - 1), today


def _months_ago(day: Any, months: int) -> Any:
    number = day.year * 12 + day.month - 1 - months
    return day.replace(year=number // 12, month=number % 12 + 1, day=1)


def _tasks(request: HttpRequest) -> list[dict[str, Any]]:
    """Counts of what waits, in the order of the sidebar, with nothing of what this person may not do."""
    counts = staff_navigation.waiting(request)
    return [
        {
            "title": str(page.title) or capfirst(str(model_admin.model._meta.verbose_name_plural)),
            "icon": page.icon,
            "link": page.url,
            "count": staff_navigation.written_count(counts[page.model]),
            "waits": counts[page.model] > 0,
        }
        for _title, group in staff_navigation.pages(request)
        for page, model_admin in group
        if page.model in counts
    ]


def _lanes() -> dict[str, Any]:
    figures = outbox.measure()
    rows = []
    for lane in LANES:
        mine = [found for found in figures if _lane_of(found.queue) == lane]
        oldest = max((found.oldest for found in mine), default=0.0)
        depth, dead = sum(found.depth for found in mine), sum(found.dead for found in mine)
        rows.append([str(_LANE_NAMES[lane]), depth, _age(oldest) if depth else "–", dead])
    return {"headers": [_("Work"), _("Waits"), _("The oldest"), _("Given up")], "rows": rows}


def _lane_of(queue: str) -> str:
    terms = QUEUES.get(queue)
    return terms.lane if terms is not None else "local"


def _age(seconds: float) -> str:
    if seconds < 90:
        return _("%(count)d s") % {"count": round(seconds)}
    if seconds < 5400:
        return _("%(count)d min") % {"count": round(seconds / 60)}
    return _("%(count)d h") % {"count": round(seconds / 3600)}


def _hosts() -> dict[str, Any]:
    found = Host.objects.filter(failures__gt=0).order_by("-failing_since")[:HOSTS_SHOWN]
    rows = [[host.name, moment(host.failing_since) if host.failing_since else "–"] for host in found]
    return {"headers": [_("Server"), _("Failing since")], "rows": rows, "link": reverse("admin:social_host_changelist")}


def _line(title: str, found: Measured) -> dict[str, Any]:
    """A chart of a measure, as the theme's script reads it, with its sums in words."""
    data = {
        "labels": [date_format(day, "j M") for day, _count in found.days],
        "datasets": [
            {
                "label": title,
                "data": [count for _day, count in found.days],
                "borderColor": "var(--color-primary-600)",
                "backgroundColor": "var(--color-primary-600)",
                "borderWidth": 2,
                "tension": 0.2,
            }
        ],
    }
    return {"title": title, "data": json.dumps(data), "total": found.total, "previous": found.previous}


def _retention(cohorts: Iterable[Cohort]) -> dict[str, Any]:
    """A table of how many of those who joined in a month were seen in it and after it, in hundredths."""
    found = list(cohorts)
    rows = []
    for cohort in found:
        shares = [f"{round(100 * count / cohort.size)} %" if cohort.size else "–" for _day, count in cohort.seen]
        rows.append([date_format(cohort.period, "F Y"), cohort.size, *shares, *[""] * (len(found) - len(shares))])
    later = [
        ngettext("%(count)d month later", "%(count)d months later", number) % {"count": number}
        for number in range(1, len(found))
    ]
    return {"headers": [_("Joined in"), _("People"), _("Same month"), *later], "rows": rows}
