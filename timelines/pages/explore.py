"""Pages of trends and of discoverable accounts, for visitors who follow nobody yet."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.pages.person import load_entities, shown_author, shown_biography
from accounts.queries.discovery import list_directory
from accounts.queries.tags import view_tags
from accounts.serializers.tag import present_tags
from social.kernel.cursors import Cursor
from social.pages.frame import allow_caching, path_of, sharing_of_site, show
from statuses.pages.posts import load_shown, posts_for_templates, shown_card
from statuses.policies.audience import THREAD
from statuses.queries.page import fill, select
from timelines.models import TrendKind
from timelines.pages.public import public_url
from timelines.policies.access import LIVE
from timelines.queries.public import PublicFilter, list_public_ids, load_origins
from timelines.queries.trends import list_allowed_ids, load_cards, load_tags
from timelines.serializers.entities import present_trending_links

POSTS_LIMIT: Final = 20
TAGS_LIMIT: Final = 20
LINKS_LIMIT: Final = 20
PEOPLE_LIMIT: Final = 40
_SUMMED_DAYS: Final = 2


@require_safe
def explore(request: HttpRequest, kind: str = "") -> HttpResponse:
    """`/explore`, `/explore/tags`, `/explore/links` and `/explore/people`, for everyone (contract, endpoints).

    Shows trending posts, hashtags and links that may be shown, those with the highest score first; and discoverable
    accounts, those that posted last first.
    """
    context: dict[str, Any] = {
        "kind": kind,
        "tabs": [
            {
                "title": title,
                "url": reverse("explore", kwargs={"kind": name} if name else None),
                "current": name == kind,
            }
            for name, title in _titles().items()
        ],
        "public_url": public_url(),
        "sharing": sharing_of_site(request.path, title=_("Explore")),
        **_LISTS[kind](),
    }
    return allow_caching(show(request, "timelines/explore.html", context))


def _titles() -> dict[str, str]:
    return {"": _("Posts"), "tags": _("Hashtags"), "links": _("Links"), "people": _("People")}


def posts_for_visitors(limit: int, *, trends: bool = True) -> dict[str, Any]:
    """Return `posts` for templates, and whether they are `trending`: the trends with `trends`, or else, where nothing
    trends, the newest public posts of discoverable people here, unless that timeline requires signing in.
    """
    if trends:
        page = select(list_allowed_ids(TrendKind.STATUS), None, THREAD.shows)
        page.rows = page.rows[:limit]
        if page.rows:
            return {"posts": posts_for_templates(fill(page)), "trending": True}
    opened = load_origins(LIVE, None, local=True, remote=False)
    if opened is None or not any(opened):
        return {"posts": [], "trending": False}
    ids = list_public_ids(None, Cursor(limit), PublicFilter(local=True, discoverable=True))
    return {"posts": load_shown(ids), "trending": False}


def _posts() -> dict[str, Any]:
    return posts_for_visitors(POSTS_LIMIT)


def _tags() -> dict[str, Any]:
    tags = load_tags(list_allowed_ids(TrendKind.TAG)[:TAGS_LIMIT])
    entities = present_tags(tags, view_tags(tags, None)) if tags else []
    return {"tags": [{**entity, "url": path_of(entity["url"]), "people": _people_of(entity)} for entity in entities]}


def _links() -> dict[str, Any]:
    entities = present_trending_links(load_cards(list_allowed_ids(TrendKind.LINK)[:LINKS_LIMIT]), None)
    return {"links": [shown_card(entity) | {"people": _people_of(entity)} for entity in entities]}


def _people() -> dict[str, Any]:
    ids = list_directory(None, order="active", local=False).values_list("id", flat=True)[:PEOPLE_LIMIT]
    return {"people": [_described(entity) for entity in load_entities(ids)]}


def _described(entity: dict[str, Any]) -> dict[str, Any]:
    return {"person": shown_author(entity), "note": shown_biography(entity)}


def _people_of(entity: dict[str, Any]) -> int:
    """Return the number of accounts that have used a hashtag or a link today and yesterday."""
    return sum(int(day["accounts"]) for day in entity["history"][:_SUMMED_DAYS])


_LISTS: Final = {"": _posts, "tags": _tags, "links": _links, "people": _people}
