"""Public pages for visitors without an app: the page of a hashtag, to which every post that uses the hashtag links, and
the pages of the public timelines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.queries.tags import named_tag
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.pages.frame import absolute, allow_caching, sharing_of_site, show
from statuses.pages.feed import show_feed
from statuses.pages.posts import load_shown
from timelines.policies.access import HASHTAG, LIVE
from timelines.queries.public import PublicFilter, TagFilter, list_public_ids, list_tagged_ids, load_origins

PAGE_SIZE: Final = 20

#: Whether local and remote posts are requested, by the last part of a page's path.
_ORIGINS: Final = {"": (True, True), "local": (True, False), "remote": (False, True)}


@require_safe
def tag(request: HttpRequest, name: str) -> HttpResponse:
    """`/tags/:name`: public posts with the hashtag, newest first, for everyone (contract, behaviours section 11).

    Raises NotFound for an invalid hashtag. An unused hashtag has a page without posts, and so does every hashtag if these
    timelines require signing in.
    """
    hashtag, public_filter = named_tag(name), _open(HASHTAG, *_ORIGINS[""])
    name = hashtag.display_name
    context: dict[str, Any] = {"name": name, "title": f"#{name}", "closed": public_filter is None}
    if public_filter is not None:
        context["feed"] = reverse("tag_feed", kwargs={"name": name})
        searched = TagFilter(hashtag.name)
        context |= _posts(request, lambda cursor: list_tagged_ids(None, cursor, public_filter, searched))
    context["sharing"] = sharing_of_site(
        reverse("tag", kwargs={"name": name}),
        title=context["title"],
        description=_("The newest public posts with this hashtag."),
    )
    return allow_caching(show(request, "timelines/public.html", context))


@require_safe
def tag_feed(request: HttpRequest, name: str) -> HttpResponse:
    """`/tags/:name.rss`: the first page of the hashtag as a feed.

    Raises NotFound for an invalid hashtag, and if these timelines require signing in.
    """
    hashtag, public_filter = named_tag(name), _open(HASHTAG, *_ORIGINS[""])
    name = hashtag.display_name
    if public_filter is None:
        raise NotFound
    ids = list_tagged_ids(None, Cursor(PAGE_SIZE), public_filter, TagFilter(hashtag.name))
    return show_feed(
        title=f"#{name}",
        url=absolute(reverse("tag", kwargs={"name": name})),
        description=_("The newest public posts with this hashtag."),
        posts=load_shown(ids),
    )


@require_safe
def public(request: HttpRequest, origin: str = "") -> HttpResponse:
    """`/public`, `/public/local`, `/public/remote`: the public timelines, newest first, for everyone.

    Raises NotFound for a timeline that requires signing in, or is disabled.
    """
    filters = {name: _open(LIVE, *_ORIGINS[name]) for name in _ORIGINS}
    public_filter = require_found(filters[origin])
    titles = {
        "": _("All public posts"),
        "local": _("Public posts of this server"),
        "remote": _("Public posts of other servers"),
    }
    others = [name for name in _ORIGINS if name != origin] if all(filters.values()) else []
    context: dict[str, Any] = {
        "title": titles[origin],
        "others": [{"title": titles[name], "url": public_url(name)} for name in others],
    }
    context |= _posts(request, lambda cursor: list_public_ids(None, cursor, public_filter))
    context["sharing"] = sharing_of_site(public_url(origin), title=titles[origin])
    return allow_caching(show(request, "timelines/public.html", context))


def _posts(request: HttpRequest, list_ids: Callable[[Cursor], list[int]]) -> dict[str, Any]:
    """Return a page of posts, with links to other pages."""
    before = parse_id(request.GET.get("max_id", ""))
    ids = list_ids(Cursor(PAGE_SIZE + 1, before=before))
    return {
        "posts": load_shown(ids[:PAGE_SIZE]),
        "older": f"?max_id={ids[PAGE_SIZE - 1]}" if len(ids) > PAGE_SIZE else "",
        "newest": request.path if before is not None else "",
    }


def public_url(origin: str = "") -> str:
    """Return the path of a public timeline's page; empty if the page shows nothing without signing in."""
    if _open(LIVE, *_ORIGINS[origin]) is None:
        return ""
    return reverse("public_timeline", kwargs={"origin": origin} if origin else None)


def _open(kind: str, local: bool, remote: bool) -> PublicFilter | None:
    """Return a filter for the requested origins that are shown without signing in; None if there are no such origins."""
    for local_too, remote_too in ((local, remote), (local, False), (False, remote)):
        origins = load_origins(kind, None, local=local_too, remote=remote_too)
        if origins is not None and any(origins):
            return PublicFilter(None if all(origins) else origins[0])
    return None
