"""Pages of trends and discoverable accounts, for visitors and signed-in people, who see what the API shows them."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.pages.member import viewer_of
from accounts.pages.person import load_entities, shown_author, shown_biography
from accounts.pages.relations import with_relations
from accounts.queries.discovery import list_directory
from social.kernel.cursors import Cursor
from social.pages.frame import allow_caching, sharing_of_site, show
from statuses.pages.posts import load_shown, posts_for_templates, reader_of, shown_card
from statuses.policies.audience import THREAD
from statuses.queries.page import fill, select
from timelines.models import TrendKind
from timelines.pages.public import people_of, public_url, tags_for_templates
from timelines.policies.access import LIVE
from timelines.queries.public import PublicFilter, list_public_ids, load_origins
from timelines.queries.trends import list_allowed_ids, load_cards, load_tags
from timelines.serializers.entities import present_trending_links

POSTS_LIMIT: Final = 20
TAGS_LIMIT: Final = 20
LINKS_LIMIT: Final = 20
PEOPLE_LIMIT: Final = 40


@require_safe
def explore(request: HttpRequest, kind: str = "") -> HttpResponse:
    """`/explore`, `/explore/tags`, `/explore/links` and `/explore/people`, for everyone (contract, endpoints): the trending
    posts, hashtags and links that staff allow, and discoverable accounts, sorted by their latest posts.
    """
    viewer = viewer_of(request)
    titles = {"": _("Posts"), "tags": _("Hashtags"), "links": _("Links"), "people": _("People")}
    context: dict[str, Any] = {
        "kind": kind,
        "tabs": [
            {
                "title": title,
                "url": reverse("explore", kwargs={"kind": name} if name else None),
                "current": name == kind,
            }
            for name, title in titles.items()
        ],
        "public_url": public_url(viewer=viewer),
        "local_url": public_url("local", viewer) if viewer is not None else "",
        "sharing": sharing_of_site(request.path, title=_("Explore")),
        **_LISTS[kind](viewer),
    }
    return allow_caching(show(request, "timelines/explore.html", context))


def explored_posts(limit: int, viewer: User | None = None, *, trends: bool = True) -> dict[str, Any]:
    """Return the template values `posts` and `trending`. The posts are trending posts if `trends` is set and there are any.
    Otherwise they are the newest posts of discoverable local accounts, or none if the viewer (None for a visitor) may not read
    the local timeline.
    """
    reader = reader_of(viewer, "public") if viewer is not None else None
    viewer_id = _id_of(viewer)
    if trends:
        page = select(list_allowed_ids(TrendKind.STATUS), viewer_id, THREAD.shows)
        page.rows = page.rows[:limit]
        if page.rows:
            return {"posts": posts_for_templates(fill(page), reader), "trending": True}
    opened = load_origins(LIVE, viewer_id, local=True, remote=False)
    if opened is None or not any(opened):
        return {"posts": [], "trending": False}
    ids = list_public_ids(viewer_id, Cursor(limit), PublicFilter(local=True, discoverable=True))
    return {"posts": load_shown(ids, reader), "trending": False}


def _tags(viewer: User | None) -> dict[str, Any]:
    return {"tags": tags_for_templates(load_tags(list_allowed_ids(TrendKind.TAG)[:TAGS_LIMIT]), _id_of(viewer))}


def _links(viewer: User | None) -> dict[str, Any]:
    cards = load_cards(list_allowed_ids(TrendKind.LINK)[:LINKS_LIMIT])
    entities = present_trending_links(cards, _id_of(viewer))
    return {"links": [shown_card(entity) | {"people": people_of(entity)} for entity in entities]}


def _people(viewer: User | None) -> dict[str, Any]:
    viewer_id = _id_of(viewer)
    ids = list_directory(viewer_id, order="active", local=False).values_list("id", flat=True)[:PEOPLE_LIMIT]
    entities = load_entities(ids, viewer_id)
    if viewer is not None:
        return {"people": with_relations(viewer, entities), "for_member": True}
    return {"people": [{"person": shown_author(entity), "note": shown_biography(entity)} for entity in entities]}


def _id_of(viewer: User | None) -> int | None:
    return viewer.account_id if viewer is not None else None


_LISTS: Final[dict[str, Callable[[User | None], dict[str, Any]]]] = {
    "": partial(explored_posts, POSTS_LIMIT),
    "tags": _tags,
    "links": _links,
    "people": _people,
}
