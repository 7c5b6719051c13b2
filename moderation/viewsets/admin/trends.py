"""Review of trends and hashtags by staff, over HTTP."""

from __future__ import annotations

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
    """Return the action that decides whether a thing may trend; `title` is for the OpenAPI document."""

    def action(self: AdminViewSet, request: Request, id: int) -> HttpResponse:
        review_trend(by=self.by, kind=kind, object_id=id, trendable=trendable)
        for entity in _PRESENT[kind]([Trending(id, trendable)], self.account_id):
            return reply(entity)
        raise NotFound

    action.__doc__ = title
    return action


class AdminTrendsViewSet(AdminViewSet, TrendsViewSet):
    """`/api/v1/admin/trends`: trends of all kinds, and their review.

    A caller who may not manage taxonomies gets the public lists, as without a token; their links lead to the public
    endpoints (contract, endpoints.tsv).
    """

    endpoints = {
        "tags": Endpoint(
            _READER, "AnyTrendingTag", many=True, paging=ByOffset(Limit(10, 20), links=True, path=TAGS_PATH)
        ),
        "statuses": Endpoint(
            _READER,
            "AnyTrendingStatus",
            many=True,
            paging=ByOffset(Limit(20, 40), links=True, path="/api/v1/trends/statuses"),
        ),
        "links": Endpoint(
            _READER,
            "AnyTrendingLink",
            many=True,
            paging=ByOffset(Limit(10, 20), links=True, path="/api/v1/trends/links"),
        ),
        "approve_tag": Endpoint(_WRITER, "AdminTag"),
        "reject_tag": Endpoint(_WRITER, "AdminTag"),
        "approve_status": Endpoint(_WRITER, "AdminTrendsStatus"),
        "reject_status": Endpoint(_WRITER, "AdminTrendsStatus"),
        "approve_link": Endpoint(_WRITER, "AdminTrendsLink"),
        "reject_link": Endpoint(_WRITER, "AdminTrendsLink"),
    }

    def tags(self, request: Request) -> HttpResponse:
        """Trending hashtags, the strongest first."""
        if not self._is_reviewing():
            return super().tags(request)
        page = self.paginate(list_trending(TrendKind.TAG))
        return page.respond(admin.present_tags_for_staff(page.items, self.account_id))

    def statuses(self, request: Request) -> HttpResponse:
        """Trending posts, the strongest first."""
        if not self._is_reviewing():
            return super().statuses(request)
        page = self.paginate(list_trending(TrendKind.STATUS))
        return page.respond(admin.present_statuses_for_staff(page.items, self.account_id))

    def links(self, request: Request) -> HttpResponse:
        """Trending links, the strongest first."""
        if not self._is_reviewing():
            return super().links(request)
        page = self.paginate(list_trending(TrendKind.LINK))
        return page.respond(admin.present_links_for_staff(page.items, self.account_id))

    approve_tag = _reviewing(TrendKind.TAG, True, "Allow a hashtag to trend.")
    reject_tag = _reviewing(TrendKind.TAG, False, "Keep a hashtag out of trends.")
    approve_status = _reviewing(TrendKind.STATUS, True, "Allow a public post to trend.")
    reject_status = _reviewing(TrendKind.STATUS, False, "Keep a public post out of trends.")
    approve_link = _reviewing(TrendKind.LINK, True, "Allow a page to trend, whatever is decided about its publisher.")
    reject_link = _reviewing(
        TrendKind.LINK, False, "Keep a page out of trends, whatever is decided about its publisher."
    )

    def _is_reviewing(self) -> bool:
        """Tell whether the caller reviews trends. Raises Forbidden for a reviewer who may not use the staff API now."""
        identity = self.caller
        if identity is None or identity.user_id is None:
            return False
        user = find_user(identity.user_id)
        if not can(staff_of(user), Permission.MANAGE_TAXONOMIES):
            return False
        _STAFF.check(identity)
        require_second_factor(user)
        return True


class AdminLinkPublishersViewSet(AdminViewSet):
    endpoints = {
        "list": Endpoint(_STAFF, "PreviewCardProvider", many=True, paging=ByCursor(Limit(100, 200))),
        "approve": Endpoint(_WRITER, "PreviewCardProvider"),
        "reject": Endpoint(_WRITER, "PreviewCardProvider"),
    }

    def list(self, request: Request) -> HttpResponse:
        """List of sites whose pages have trended, the newest first."""
        page = self.paginate(LinkPublisher.objects.all())
        return page.respond(admin.LinkPublisherSerializer(page.items, many=True).data)

    def approve(self, request: Request, id: int) -> HttpResponse:
        """Allow the pages of a site to trend."""
        return self._review(id, trendable=True)

    def reject(self, request: Request, id: int) -> HttpResponse:
        """Keep the pages of a site out of trends, except pages that were approved individually."""
        return self._review(id, trendable=False)

    def _review(self, publisher_id: int, *, trendable: bool) -> HttpResponse:
        publisher = review_publisher(by=self.by, publisher_id=publisher_id, trendable=trendable)
        return reply(admin.LinkPublisherSerializer(publisher).data)


class AdminTagsViewSet(AdminRowsViewSet):
    endpoints = {
        "list": Endpoint(_STAFF, "AdminTag", many=True, paging=ByCursor(Limit(100, 200))),
        "retrieve": Endpoint(_STAFF, "AdminTag"),
        "update": Endpoint(_WRITER, "AdminTag", input=TagInput),
    }
    model, serializer = Tag, admin.AdminTagSerializer
    titles = {"list": "List of hashtags, the newest first.", "retrieve": "A hashtag."}

    def update(self, request: Request, id: int) -> HttpResponse:
        """Change the spelling of a hashtag, and whether it may be used, listed and trend."""
        review_tag(by=self.by, tag=self.find(id), change=TagInput.read(request))
        return self.present(self.find(id))

    def context(self, rows: Sequence[Tag]) -> dict[str, Any]:
        return {"view": view_tags(rows, self.viewer_id)}
