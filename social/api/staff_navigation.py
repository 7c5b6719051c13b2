"""The sidebar of the admin, in our order and with counts of waiting rows, and the search of the command palette."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.contrib import admin
from django.db.models import TextField, Value
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.dataclasses import SearchResult

from social.kernel.identity import current_identity
from social.kernel.media import storage

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    from social.api.staff import ReadOnlyAdmin

# Limit of the counts, because counting further would take time on every page, and staff need no higher counts.
WAITING_LIMIT: Final = 100
FOUND_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class SidebarLine:
    """A line of the sidebar: the list of `model` ("app.model"), or another `view` of its admin class.

    The admin class decides who sees the line (`has_view_permission`) and what it counts (`waiting`). A model without an
    admin class has no line.
    """

    model: str
    icon: str
    title: str | _StrPromise = ""
    view: str = ""
    query: str = ""

    @property
    def url(self) -> str:
        app, name = self.model.split(".")
        path = reverse(f"admin:{self.view or f'{app}_{name}_changelist'}")
        return f"{path}?{self.query}" if self.query else path


# Names of icons: https://fonts.google.com/icons (Material Symbols), which the theme contains.
GROUPS: Final[tuple[tuple[str | _StrPromise, tuple[SidebarLine, ...]], ...]] = (
    (
        _("Moderation"),
        (
            SidebarLine("moderation.report", "flag", view="moderation_report_inbox"),
            SidebarLine("moderation.appeal", "gavel"),
            SidebarLine("accounts.user", "person_add", _("Sign-ups"), query="state=waiting"),
            SidebarLine("timelines.trend", "trending_up"),
            SidebarLine("timelines.linkpublisher", "newspaper"),
            SidebarLine("accounts.tag", "tag"),
            SidebarLine("moderation.strike", "block"),
            SidebarLine("statuses.heldpost", "front_hand"),
            SidebarLine("accounts.spamrule", "filter_alt"),
            SidebarLine("accounts.quarantinedfile", "biotech"),
            SidebarLine("moderation.evidencefile", "folder_zip"),
        ),
    ),
    (
        _("People"),
        (
            SidebarLine("accounts.account", "group"),
            SidebarLine("statuses.status", "chat"),
            SidebarLine("accounts.invite", "mail"),
            SidebarLine("accounts.role", "shield_person"),
        ),
    ),
    (
        _("Blocks"),
        (
            SidebarLine("moderation.domainrule", "dns"),
            SidebarLine("moderation.domainallow", "verified"),
            SidebarLine("moderation.blocklist", "playlist_add_check"),
            SidebarLine("moderation.blocklistentry", "rule_folder"),
            SidebarLine("moderation.blocklistexception", "shield"),
            SidebarLine("accounts.emaildomainblock", "alternate_email"),
            SidebarLine("accounts.canonicalemailblock", "unsubscribe"),
            SidebarLine("accounts.ipblock", "lan"),
            SidebarLine("accounts.usernameblock", "person_off"),
            SidebarLine("accounts.hashlist", "fingerprint"),
        ),
    ),
    (
        _("This server"),
        (
            SidebarLine("accounts.sitesetting", "info"),
            SidebarLine("moderation.instancerule", "rule"),
            SidebarLine("moderation.announcement", "campaign"),
            SidebarLine("moderation.termsofservice", "contract"),
            SidebarLine("accounts.customemoji", "mood"),
            SidebarLine("moderation.webhook", "webhook"),
        ),
    ),
    (
        _("System"),
        (
            SidebarLine("accounts.auditentry", "history"),
            SidebarLine("accounts.domain", "public", _("Known servers")),
            SidebarLine("social.host", "cloud_off"),
            SidebarLine("federation.delivery", "outbox"),
            SidebarLine("federation.outboundactivity", "upload"),
            SidebarLine("federation.inboundactivity", "download"),
            SidebarLine("federation.relay", "hub"),
            SidebarLine("social.outboxrow", "pending"),
        ),
    ),
)


def pages(request: HttpRequest) -> list[tuple[str | _StrPromise, list[tuple[SidebarLine, ReadOnlyAdmin]]]]:
    """Return the groups of the sidebar, with the pages that the user may open. The role is read once per request."""
    known: list[Any] | None = getattr(request, "staff_pages", None)
    if known is not None:
        return known
    registered: dict[str, Any] = {model._meta.label_lower: found for model, found in admin.site._registry.items()}
    groups: list[Any] = []
    for title, group in GROUPS:
        found = [(page, registered[page.model]) for page in group if page.model in registered]
        groups.append(
            (title, [(page, model_admin) for page, model_admin in found if model_admin.has_view_permission(request)])
        )
    request.staff_pages = groups  # type: ignore[attr-defined]  # kept for this request
    return groups


def waiting(request: HttpRequest) -> dict[str, int]:
    """Count the rows that are waiting for staff, up to WAITING_LIMIT, for each model ("app.model") that the user may see. Needs
    one statement, executed once per request.
    """
    known: dict[str, int] | None = getattr(request, "staff_waiting", None)
    if known is not None:
        return known
    asked = {page.model: model_admin.waiting() for _title, group in pages(request) for page, model_admin in group}
    queries = {model: rows for model, rows in asked.items() if rows is not None}
    found = [rows.order_by().values_list(Value(model, TextField()))[:WAITING_LIMIT] for model, rows in queries.items()]
    names = Counter(name for (name,) in found[0].union(*found[1:], all=True)) if found else Counter()
    counts = {model: names[model] for model in queries}
    request.staff_waiting = counts  # type: ignore[attr-defined]  # kept for this request
    return counts


def written_count(count: int) -> str:
    """Return a count in the form that the sidebar shows: `99+` for WAITING_LIMIT."""
    return str(count) if count < WAITING_LIMIT else f"{WAITING_LIMIT - 1}+"


def title_of(page: SidebarLine, model_admin: ReadOnlyAdmin) -> str:
    return str(page.title) or capfirst(str(model_admin.model._meta.verbose_name_plural))


def _line(
    page: SidebarLine, model_admin: ReadOnlyAdmin, request: HttpRequest, counts: dict[str, int]
) -> dict[str, Any]:
    path = page.url.partition("?")[0]
    count = counts.get(page.model, 0)
    return {
        "title": title_of(page, model_admin),
        "icon": page.icon,
        "link": page.url,
        "active": request.path.startswith(path),
        "badge": written_count(count) if count else None,
        "badge_variant": "danger",
    }


def links_to(request: HttpRequest, *models: str) -> list[tuple[str, str]]:
    """Return title and path of the lists of these models ("app.model") that the user may open, in the sidebar's order."""
    return [
        (title_of(page, model_admin), page.url)
        for _group, group in pages(request)
        for page, model_admin in group
        if page.model in models
    ]


def place_of(path: str) -> dict[str, str] | None:
    """Return the group and the title of the sidebar entry for the model whose list has this path, or None if there is none."""
    for model in admin.site._registry:
        options = model._meta
        if path != reverse(f"admin:{options.app_label}_{options.model_name}_changelist"):
            continue
        for group, found in GROUPS:
            for page in found:
                if page.model == options.label_lower:
                    return {"group": str(group), "title": str(page.title) or capfirst(str(options.verbose_name_plural))}
    return None


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar, in the theme's format."""
    counts = waiting(request)
    home: dict[str, Any] = {"title": gettext("Home"), "icon": "home", "link": reverse("admin:index")}
    home["active"] = request.path == home["link"]
    groups = [
        {"title": title, "items": [_line(page, model_admin, request, counts) for page, model_admin in group]}
        for title, group in pages(request)
        if group
    ]
    return [{"items": [home]}, *groups]


def search(request: HttpRequest, term: str) -> list[SearchResult]:
    """Return rows that contain the term, for the command palette: at most FOUND_ROWS of each model that is searched."""
    found: dict[str, SearchResult] = {}
    for _group, group in pages(request):
        for page, model_admin in group:
            if not model_admin.in_palette:
                continue
            rows, _repeats = model_admin.get_search_results(request, model_admin.get_queryset(request), term)
            options = model_admin.model._meta
            for row in rows.order_by("-pk")[:FOUND_ROWS]:
                link = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[row.pk])
                title = Truncator(model_admin.name_of(row)).chars(80)
                found[link] = SearchResult(title, capfirst(str(options.verbose_name)), link, page.icon)
    return list(found.values())


def icon(request: HttpRequest) -> str:
    """Return the address of the icon in the admin's header: the owner's icon, or this software's icon in the owner's colour."""
    identity = current_identity()
    if "192" in identity.icons:
        return storage.url(identity.icons["192"]).removeprefix(settings.BASE_URL)
    return f"/icon.svg?v={identity.version}" if identity.colour else static("icon.svg")


def account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the links of the account menu: pages of the site, not of the admin."""
    return [
        {"title": gettext("The server's pages"), "link": "/"},
        {"title": gettext("Your settings"), "link": reverse("settings_profile")},
    ]
