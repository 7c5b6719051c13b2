"""`/api/v1/trends`: hashtags, posts and links that are talked about, as far as staff have allowed them to be shown."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.tags import view_tags
from accounts.serializers.tag import present_tags
from social.api.access import optional_user
from social.api.declarations import Endpoint
from social.api.pagination import ByOffset, Limit
from social.api.viewsets import ApiViewSet
from statuses.policies.visibility import may_be_listed
from statuses.queries.page import fill, select
from statuses.serializers.presenting import present
from timelines.models import TrendKind
from timelines.queries.trends import list_allowed_ids, load_cards, load_tags
from timelines.serializers.trend import present_trending_links

TAGS_PATH: Final = "/api/v1/trends/tags"
#: Mastodon 3.5.0, 2022-03-30 (contract, endpoints).
_DEPRECATED: Final = 1_648_598_400
_TAGS: Final = ByOffset(Limit(10, 20), links=True, path=TAGS_PATH)


class TrendsViewSet(ApiViewSet):
    """Any token is as good as none; what a viewer blocks or mutes is left out of posts."""

    endpoints = {
        "tags": Endpoint(optional_user(), "Tag", many=True, paging=_TAGS),
        "old_tags": Endpoint(optional_user(), "Tag", many=True, paging=_TAGS, deprecated=_DEPRECATED),
        "statuses": Endpoint(optional_user(), "Status", many=True, paging=ByOffset(Limit(20, 40), links=True)),
        "links": Endpoint(optional_user(), "PreviewCard", many=True, paging=ByOffset(Limit(10, 20), links=True)),
    }

    def tags(self, request: Request) -> HttpResponse:
        """Hashtags, the strongest first."""
        page = self.paginate(list_allowed_ids(TrendKind.TAG))
        tags = load_tags(page.items)
        return page.respond(present_tags(tags, view_tags(tags, self.viewer_id)) if tags else [])

    def old_tags(self, request: Request) -> HttpResponse:
        """The same at the path of clients before 3.5; its links lead to the newer path."""
        return self.tags(request)

    def statuses(self, request: Request) -> HttpResponse:
        """Posts, the strongest first."""
        found = select(list_allowed_ids(TrendKind.STATUS), self.viewer_id, may_be_listed)
        page = self.paginate(found.rows)
        found.rows = page.items
        return page.respond(present(fill(found)) if found.rows else [])

    def links(self, request: Request) -> HttpResponse:
        """Pages, the strongest first."""
        page = self.paginate(list_allowed_ids(TrendKind.LINK))
        return page.respond(present_trending_links(load_cards(page.items), self.viewer_id))
