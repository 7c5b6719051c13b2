"""Pages of a hashtag and of the public timelines. Visitors may read them; signed-in people also get buttons for actions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Tag, User
from accounts.pages.member import back, refuse, viewer_of
from accounts.pages.settings import counted, signed_in
from accounts.queries.tags import named_tag, view_tags
from accounts.serializers.tag import present_tags
from accounts.services.tags import follow_tag, unfeature_tag_named, unfollow_tag
from social.api import limits
from social.kernel.cursors import Cursor
from social.kernel.errors import Invalid, NotFound, require_found
from social.kernel.ids import parse_id
from social.pages.frame import absolute, allow_caching, path_of, sharing_of_site, show
from social.pages.paging import cursor_of, links, one_page
from statuses.pages.acts import counted_all
from statuses.pages.feed import show_feed
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.tags import find_tag
from statuses.services.pins import feature_used_tag
from timelines.policies.access import HASHTAG, LIVE
from timelines.queries.public import PublicFilter, TagFilter, list_public_ids, list_tagged_ids, load_origins

PAGE_SIZE: Final = 20
_SUMMED_DAYS: Final = 2

#: Whether local and remote posts are shown, by the last part of a page's path.
_ORIGINS: Final = {"": (True, True), "local": (True, False), "remote": (False, True)}


@require_safe
def tag(request: HttpRequest, name: str) -> HttpResponse:
    """`/tags/:name`: public posts with the hashtag, newest first, for everyone; signed-in people follow and feature it here.
    Visitors get no posts if these timelines require signing in. Raises NotFound for an invalid hashtag.
    """
    hashtag, viewer = named_tag(name), viewer_of(request)
    viewer_id = viewer.account_id if viewer is not None else None
    public_filter = _open(HASHTAG, viewer)
    name = hashtag.display_name
    context: dict[str, Any] = {"name": name, "title": f"#{name}", "closed": public_filter is None}
    if viewer is not None:
        context["tag"] = tags_for_templates([find_tag(name, viewer.account_id)], viewer.account_id)[0]
    if public_filter is not None:
        context["feed"] = reverse("tag_feed", kwargs={"name": name})
        searched = TagFilter(hashtag.name)
        context |= _posts(request, viewer, lambda cursor: list_tagged_ids(viewer_id, cursor, public_filter, searched))
    context["sharing"] = sharing_of_site(
        reverse("tag", kwargs={"name": name}),
        title=context["title"],
        description=_("The newest public posts with this hashtag."),
    )
    return allow_caching(show(request, "timelines/public.html", context))


@require_safe
def tag_feed(request: HttpRequest, name: str) -> HttpResponse:
    """`/tags/:name.rss`: the hashtag as a feed. Raises NotFound for an invalid hashtag, and if these timelines are closed."""
    hashtag, public_filter = named_tag(name), require_found(_open(HASHTAG, None))
    name = hashtag.display_name
    ids = list_tagged_ids(None, Cursor(PAGE_SIZE), public_filter, TagFilter(hashtag.name))
    return show_feed(
        title=f"#{name}",
        url=absolute(reverse("tag", kwargs={"name": name})),
        description=_("The newest public posts with this hashtag."),
        posts=load_shown(ids),
    )


@require_safe
def public(request: HttpRequest, origin: str = "") -> HttpResponse:
    """`/public`, `/public/local`, `/public/remote`: public timelines. Raises NotFound for a timeline closed to this reader."""
    viewer = viewer_of(request)
    viewer_id = viewer.account_id if viewer is not None else None
    filters = {name: _open(LIVE, viewer, name) for name in _ORIGINS}
    public_filter = require_found(filters[origin])
    titles = {
        "": _("All public posts"),
        "local": _("Public posts from this server"),
        "remote": _("Public posts from other servers"),
    }
    others = [name for name in _ORIGINS if name != origin] if all(filters.values()) else []
    context: dict[str, Any] = {
        "title": titles[origin],
        "others": [{"title": titles[name], "url": _url(name)} for name in others],
    }
    context |= _posts(request, viewer, lambda cursor: list_public_ids(viewer_id, cursor, public_filter))
    context["sharing"] = sharing_of_site(_url(origin), title=titles[origin])
    return allow_caching(show(request, "timelines/public.html", context))


#: Services that the buttons of a hashtag's page call, by action. Pressing a button twice has the same effect as
#: pressing it once.
_ACTS: Final[dict[str, Callable[[User, Tag], object]]] = {
    "follow": lambda user, tag: follow_tag(account_id=user.account_id, name=tag.display_name),
    "unfollow": lambda user, tag: unfollow_tag(account_id=user.account_id, tag=tag),
    "feature": lambda user, tag: feature_used_tag(account=user.account, name=tag.display_name),
    "unfeature": lambda user, tag: unfeature_tag_named(account=user.account, tag=tag),
}


@require_POST
def act_on_tag(request: HttpRequest, name: str) -> HttpResponse:
    """`POST /tags/:name/act`: (un)follow or (un)feature the hashtag (`act`), and redirect (303). Raises NotFound."""
    user, act = signed_in(request), request.POST.get("act", "")
    counted(limits.GENERAL_RULES[0], user)
    hashtag = find_tag(name, user.account_id)
    if act not in _ACTS:
        raise NotFound
    if act == "follow":
        counted_all(limits.family("follows"), user)
    try:
        _ACTS[act](user, hashtag)
    except Invalid as refusal:
        refuse(request, refusal)
    return back(request)


def tags_for_templates(tags: Sequence[Tag], viewer_id: int | None) -> list[dict[str, Any]]:
    """Return the entities of hashtags for `timelines/tags.html`, each with the number of `people` who used it recently."""
    entities = present_tags([*tags], view_tags(tags, viewer_id)) if tags else []
    return [{**entity, "url": path_of(entity["url"]), "people": people_of(entity)} for entity in entities]


def people_of(entity: Mapping[str, Any]) -> int:
    """Return, from the entity of a hashtag or a link, the number of accounts that have used it today and yesterday."""
    return sum(int(day["accounts"]) for day in entity["history"][:_SUMMED_DAYS])


def _posts(request: HttpRequest, viewer: User | None, list_ids: Callable[[Cursor], list[int]]) -> dict[str, Any]:
    if viewer is not None:
        cursor = cursor_of(request, PAGE_SIZE)
        found = list_ids(cursor)
        shown = one_page(found, cursor)
        return {**links(request, found, cursor, shown), "posts": load_shown(shown, reader_of(viewer, "public"))}
    before = parse_id(request.GET.get("max_id", ""))
    ids = list_ids(Cursor(PAGE_SIZE + 1, before=before))
    return {
        "posts": load_shown(ids[:PAGE_SIZE]),
        "older": f"?max_id={ids[PAGE_SIZE - 1]}" if len(ids) > PAGE_SIZE else "",
        "newest": request.path if before is not None else "",
    }


def public_url(origin: str = "", viewer: User | None = None) -> str:
    """Return the path of a public timeline's page; empty if the viewer (None for a visitor) may not read that timeline."""
    return "" if _open(LIVE, viewer, origin) is None else _url(origin)


def _url(origin: str) -> str:
    return reverse("public_timeline", kwargs={"origin": origin} if origin else None)


def _open(kind: str, viewer: User | None, origin: str = "") -> PublicFilter | None:
    """Return a filter for the posts of this origin that the viewer (None for a visitor) may see; None if there are none."""
    viewer_id, (local, remote) = viewer.account_id if viewer is not None else None, _ORIGINS[origin]
    for local_too, remote_too in ((local, remote), (local, False), (False, remote)):
        origins = load_origins(kind, viewer_id, local=local_too, remote=remote_too)
        if origins is not None and any(origins):
            return PublicFilter(None if all(origins) else origins[0])
    return None
