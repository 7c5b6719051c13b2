"""The first page of the admin: pending tasks for staff, the server's health, and its growth."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.apps import apps
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.acting import acting
from accounts.models.user import Permission
from accounts.policies.staff import can
from accounts.queries.servers import list_failing_hosts, load_names
from accounts.queries.site_settings import find_registrations
from moderation.queries.dimensions import Part, human_size, load_parts
from moderation.queries.first_steps import open_first_steps
from moderation.queries.measures import Cohort, Measured, load_cohorts, measure
from social.api import staff_navigation
from social.api.staff_columns import may_open, moment, shortened
from social.kernel import clock, outbox
from social.kernel.runner import Host
from social.queues import LANES, QUEUES
from statuses.services.remote_retention import load_state

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
    """Return the context of the first page with the parts that the viewer's role allows, in at most 20 SQL statements."""
    by = acting(request)
    context["tasks"] = _tasks(request)
    if can(by, Permission.MANAGE_SETTINGS):
        context["first_steps"] = _first_steps(request)
    if can(by, Permission.VIEW_DEVOPS):
        context |= {"lanes": _lanes(), "hosts": _hosts(), "space": _space()}
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


def _first_steps(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the remaining steps for setting up a new server."""
    user: Any = request.user
    registrations: Any = {
        "open": _("Everybody can sign up at the moment."),
        "approval": _("Staff approve each sign-up at the moment."),
        "closed": _("Nobody can sign up at the moment."),
    }[find_registrations()]
    steps = {
        "describe": (
            "info", "accounts_sitesetting_changelist", _("Describe this server"),
            _("The name and the description are shown on the front page and in every app."),
        ),
        "contact": (
            "alternate_email", "accounts_sitesetting_changelist", _("Name a contact"),
            _("A username and an e-mail address for everybody who needs help or has a complaint."),
        ),
        "rules": (
            "rule", "moderation_instancerule_add", _("Write the rules"),
            _("People read them before they sign up, and reports name them."),
        ),
        "registrations": ("person_add", "accounts_sitesetting_changelist", _("Choose who may sign up"), registrations),
        "invite": (
            "mail", "accounts_invite_add", _("Invite somebody"),
            _("An invitation is a link with which one or more people can sign up."),
        ),
        "factor": (
            "lock", "", _("Protect your account"),
            _("With a second factor, nobody can sign in with your password alone."),
        ),
        "backup": (
            "backup", "", _("Take backups"),
            _("The operator takes a backup with %(command)s, preferably every night: see docs/operating.md.")
            % {"command": "manage.py backup"},
        ),
    }  # fmt: skip
    open_steps = []
    for name in open_first_steps(user):
        icon, page, title, text = steps[name]
        link = reverse(f"admin:{page}") if page else reverse("mfa_index") if name == "factor" else ""
        open_steps.append({"icon": icon, "title": title, "text": text, "link": link})
    return open_steps


def _period() -> tuple[Any, Any]:
    today = clock.now().astimezone(UTC).date()
    return today - timedelta(days=DAYS - 1), today


def _months_ago(day: Any, months: int) -> Any:
    number = day.year * 12 + day.month - 1 - months
    return day.replace(year=number // 12, month=number % 12 + 1, day=1)


def _tasks(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the counts of pending tasks, in the order of the sidebar, for the pages that the viewer may open."""
    counts = staff_navigation.waiting(request)
    return [
        {
            "title": staff_navigation.title_of(page, model_admin),
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
        of_lane = [
            figure for figure in figures if (QUEUES[figure.queue].lane if figure.queue in QUEUES else "local") == lane
        ]
        oldest = max((figure.oldest for figure in of_lane), default=0.0)
        depth, dead = sum(figure.depth for figure in of_lane), sum(figure.dead for figure in of_lane)
        rows.append([str(_LANE_NAMES[lane]), depth, _age(oldest) if depth else "–", dead])
    return {"headers": [_("Queue"), _("Waiting"), _("Oldest"), _("Given up")], "rows": rows}


def _age(seconds: float) -> str:
    if seconds < 90:
        return _("%(count)d s") % {"count": round(seconds)}
    if seconds < 5400:
        return _("%(count)d min") % {"count": round(seconds / 60)}
    return _("%(count)d h") % {"count": round(seconds / 3600)}


def _hosts() -> dict[str, Any] | None:
    if not apps.is_installed("federation"):
        return None
    hosts = list_failing_hosts().order_by("-failing_since")[:HOSTS_SHOWN]
    names = load_names(host.name for host in hosts)
    rows = [
        [shortened(", ".join(names[host.name]), 80), moment(host.failing_since) if host.failing_since else "–"]
        for host in hosts
    ]
    link = reverse("admin:social_host_changelist") if may_open(Host) else ""
    return {"headers": [_("Server"), _("Failing since")], "rows": rows, "link": link}


def _space() -> list[Part]:
    """Return the disk usage of databases and files, and the number, size, daily change and removals of remote posts."""
    parts = load_parts("space_usage", *_period(), {}, 0)
    samples, current = load_state()
    if samples:
        first, last = samples[-8:][0], samples[-1]
        parts.append(_posts(_("Posts from other servers"), last.rows, last.bytes))
        if days := (_time(last.taken_at) - _time(first.taken_at)) / timedelta(days=1):
            change = (last.rows - first.rows) / days, (last.bytes - first.bytes) / days
            parts.append(_posts(_("Average daily change over the past week"), *change))
    if current is not None:
        when = _time(current.ended_at or current.began_at)
        title = _("Removed, finished %(time)s") if current.ended_at else _("Removed so far, since %(time)s")
        removed = title % {"time": date_format(localtime(when), "SHORT_DATETIME_FORMAT")}
        parts.append(Part("", removed, "", shown=number_format(current.removed, force_grouping=True)))
    return parts


def _posts(name: str, count: float, size: float) -> Part:
    signed_size = f"{'-' if size < 0 else ''}{human_size(abs(round(size)))}"
    values = {"count": number_format(round(count), force_grouping=True), "size": signed_size}
    return Part("", name, "", shown=_("%(count)s, about %(size)s") % values)


def _time(written: str) -> datetime:
    return datetime.fromisoformat(written)


def _line(title: str, measured: Measured) -> dict[str, Any]:
    """Return a line chart of a measure, in the format that the theme's script reads, with its totals as a sentence."""
    data = {
        "labels": [date_format(day, "j M") for day, _count in measured.days],
        "datasets": [
            {
                "label": title,
                "data": [count for _day, count in measured.days],
                "borderColor": "var(--color-primary-600)",
                "backgroundColor": "var(--color-primary-600)",
                "borderWidth": 2,
                "tension": 0.2,
            }
        ],
    }
    return {
        "title": title,
        "data": json.dumps(data),
        "total": measured.total,
        "previous": measured.previous,
        "days": measured.days,
    }


def _retention(cohorts: Sequence[Cohort]) -> dict[str, Any]:
    rows = []
    for cohort in cohorts:
        shares = [f"{round(100 * count / cohort.size)} %" if cohort.size else "–" for _day, count in cohort.seen]
        rows.append([date_format(cohort.period, "F Y"), cohort.size, *shares, *[""] * (len(cohorts) - len(shares))])
    later = [
        ngettext("%(count)d month later", "%(count)d months later", number) % {"count": number}
        for number in range(1, len(cohorts))
    ]
    return {"headers": [_("Joined in"), _("People"), _("Same month"), *later], "rows": rows}
