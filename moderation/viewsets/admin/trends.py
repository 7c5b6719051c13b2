"""Review of trends and hashtags by staff, over HTTP."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Tag
from accounts.models.user import Permission
from accounts.policies.staff import can, staff_of
from accounts.queries.tags import view_tags
from accounts.queries.users import find_user
from accounts.services.tags import review_tag
from moderation.serializers import admin
from moderation.serializers.inputs.admin import TagInput
from moderation.viewsets.admin.base import AdminRowsViewSet, AdminViewSet, require_second_factor
from social.api import access
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, ByOffset, Limit
from social.api.responses import reply
from social.kernel.errors import NotFound
from timelines.models import LinkPublisher, TrendKind
from timelines.queries.trends import Trending, list_trending
from timelines.services.trends import review_publisher, review_trend
from timelines.viewsets.discovery import TAGS_PATH, TrendsViewSet

_READER: Final = access.optional_user("admin:read")
_STAFF: Final = access.staff("admin:read", Permission.MANAGE_TAXONOMIES)
_WRITER: Final = access.staff("admin:write", Permission.MANAGE_TAXONOMIES)


_PRESENT: Final = {
    TrendKind.TAG: admin.present_tags_for_staff,
    TrendKind.STATUS: admin.present_statuses_for_staff,
    TrendKind.LINK: admin.present_links_for_staff,
}


def _reviewing(kind: TrendKind, trendable: bool, title: str) -> Callable[..., HttpResponse]:
    """Return the action that decides whether a post, link or hashtag may trend; `title` is for the OpenAPI document."""

    def action(self: AdminViewSet, request: Request, id: int) -> HttpResponse:
        review_trend(by=self.by, kind=kind, object_id=id, trendable=trendable)
        for entity in _PRESENT[kind]([Trending(id, trendable)], self.account_id):
            return reply(entity)
        raise NotFound

    action.__doc__ = title
    return action


def _trends(entity: str, default: int, path: str) -> Endpoint:
    paging = ByOffset(Limit(default, 2 * default), links=True, path=path)
    return Endpoint(_READER, entity, many=True, paging=paging)


class AdminTrendsViewSet(AdminViewSet, TrendsViewSet):
    """`/api/v1/admin/trends`: trends of all kinds, and their review.

    A caller who may not manage taxonomies gets the public lists, as without a token; their links lead to the public
    endpoints (contract, endpoints.tsv).
    """

    endpoints = {
        "tags": _trends("AnyTrendingTag", 10, TAGS_PATH),
        "statuses": _trends("AnyTrendingStatus", 20, "/api/v1/trends/statuses"),
        "links": _trends("AnyTrendingLink", 10, "/api/v1/trends/links"),
        "approve_tag": Endpoint(_WRITER, "AdminTag"),
        "reject_tag": Endpoint(_WRITER, "AdminTag"),
        "approve_status": Endpoint(_WRITER, "AdminTrendsStatus"),
        "reject_status": Endpoint(_WRITER, "AdminTrendsStatus"),
        "approve_link": Endpoint(_WRITER, "AdminTrendsLink"),
        "reject_link": Endpoint(_WRITER, "AdminTrendsLink"),
    }

    def tags(self, request: Request) -> HttpResponse:
        """Trending hashtags, the strongest first."""
        return self._list(request, TrendKind.TAG, super().tags)

    def statuses(self, request: Request) -> HttpResponse:
        """Trending posts, the strongest first."""
        return self._list(request, TrendKind.STATUS, super().statuses)

    def links(self, request: Request) -> HttpResponse:
        """Trending links, the strongest first."""
        return self._list(request, TrendKind.LINK, super().links)

    def _list(self, request: Request, kind: TrendKind, list_public: Callable[[Request], HttpResponse]) -> HttpResponse:
        if not self._is_reviewing():
            return list_public(request)
        page = self.paginate(list_trending(kind))
        return page.respond(_PRESENT[kind](page.items, self.account_id))

    approve_tag = _reviewing(TrendKind.TAG, True, "Allow a hashtag to trend.")
    reject_tag = _reviewing(TrendKind.TAG, False, "Keep a hashtag out of trends.")
    approve_status = _reviewing(TrendKind.STATUS, True, "Allow a public post to trend.")
    reject_status = _reviewing(TrendKind.STATUS, False, "Keep a public post out of trends.")
    approve_link = _reviewing(TrendKind.LINK, True, "Allow a page to trend, whatever is decided about its publisher.")
    reject_link = _reviewing(
        TrendKind.LINK, False, "Keep a page out of trends, whatever is decided about its publisher."
    )

    def _is_reviewing(self) -> bool:
        """Tell whether the caller reviews trends. Raises Forbidden for a reviewer without the scope or second factor."""
        identity = self.caller
        if identity is None or identity.user_id is None:
            return False
        user = find_user(identity.user_id)
        if not can(staff_of(user), Permission.MANAGE_TAXONOMIES):
            return False
        _STAFF.check(identity)
        require_second_factor(user)
        return True


class AdminLinkPublishersViewSet(AdminRowsViewSet):
    endpoints = {
        "list": Endpoint(_STAFF, "PreviewCardProvider", many=True, paging=ByCursor(Limit(100, 200))),
        "approve": Endpoint(_WRITER, "PreviewCardProvider"),
        "reject": Endpoint(_WRITER, "PreviewCardProvider"),
    }
    model, serializer = LinkPublisher, admin.LinkPublisherSerializer
    titles = {"list": "List of sites whose pages have trended, the newest first."}
    acts = {
        "approve": (
            "Allow the pages of a site to trend.",
            lambda by, site: review_publisher(by=by, publisher_id=site.pk, trendable=True),
        ),
        "reject": (
            "Keep the pages of a site out of trends, except pages that were approved individually.",
            lambda by, site: review_publisher(by=by, publisher_id=site.pk, trendable=False),
        ),
    }


class AdminTagsViewSet(AdminRowsViewSet):
    endpoints = {
        "list": Endpoint(_STAFF, "AdminTag", many=True, paging=ByCursor(Limit(100, 200))),
        "retrieve": Endpoint(_STAFF, "AdminTag"),
        "update": Endpoint(_WRITER, "AdminTag", input=TagInput),
    }
    model, serializer = Tag, admin.AdminTagSerializer
    titles = {"list": "List of hashtags, the newest first.", "retrieve": "A hashtag."}

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the spelling of a hashtag, and whether it may be used, be listed, and trend."""
        review_tag(by=self.by, tag=self.find(id), change=TagInput.read(request))
        return self.present(self.find(id))

    def context(self, rows: Sequence[Tag]) -> dict[str, Any]:
        return {"view": view_tags(rows, self.viewer_id)}
