"""Pages of the posts that a signed-in person has bookmarked or favourited."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.pages.settings import signed_in
from social.pages.frame import show
from social.pages.paging import read_page
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.listings import list_bookmarks, list_favourites


@require_safe
def bookmarks(request: HttpRequest) -> HttpResponse:
    """`/bookmarks`: the bookmarked posts, the latest bookmark first, as `GET /api/v1/bookmarks` lists them."""
    rows = list_bookmarks(signed_in(request).account_id)
    return _show(request, rows, _("Bookmarks"), _("Only you see which posts you have bookmarked."))


@require_safe
def favourites(request: HttpRequest) -> HttpResponse:
    """`/favourites`: the favourited posts, the latest favourite first, as `GET /api/v1/favourites` lists them."""
    rows = list_favourites(signed_in(request).account_id)
    return _show(request, rows, _("Favourites"), _("The author of a post is notified when you favourite it."))


def _show(request: HttpRequest, queryset: QuerySet[Any], title: str, hint: str) -> HttpResponse:
    rows, paging = read_page(request, queryset.only("id", "status_id"))
    context = {
        **paging,
        "title": title,
        "hint": hint,
        "posts": load_shown([row.status_id for row in rows], reader_of(signed_in(request), "")),
    }
    return show(request, "statuses/marks.html", context)
