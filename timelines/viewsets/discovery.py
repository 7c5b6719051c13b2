"""HTTP endpoints for search, hashtags, and trends that staff allow to be shown."""

from typing import Any, Final

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.collections.queries import load_visible
from accounts.collections.serializers import CollectionSerializer
from accounts.models import Tag
from accounts.queries.tags import list_followed_tags, named_tag, view_tags
from accounts.queries.users import find_own_account
from accounts.serializers.account import present_accounts
from accounts.serializers.tag import present_tags
from accounts.services.tags import follow_tag, unfeature_tag_named, unfollow_tag
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.limits import family
from social.api.pagination import ByCursor, ByOffset, Limit
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Invalid
from statuses.policies.audience import THREAD
from statuses.queries.page import fill, select
from statuses.queries.tags import find_tag
from statuses.serializers.presenting import present, present_statuses
from statuses.services.pins import feature_used_tag
from timelines.models import TrendKind
from timelines.policies.search_query import InvalidDate
from timelines.queries.trends import list_allowed_ids, load_cards, load_tags
from timelines.serializers.entities import Results, SearchSerializer, present_trending_links
from timelines.serializers.inputs import SearchInput
from timelines.services.searching import search


class SearchViewSet(ApiViewSet):
    """Search for accounts, posts and hashtags by words, or for any object by its address."""

    endpoints = {"search": Endpoint(user("read:search"), "Search", input=SearchInput)}

    def search(self, request: Request) -> Any:
        """Search for everything that the caller may find (contract, behaviours section 15)."""
        viewer_id = self.account_id
        try:
            found = search(SearchInput.read(request), viewer_id)
        except InvalidDate:
            raise Invalid(_("Invalid date supplied")) from None
        tags = list(found.hashtags)
        results = Results(
            accounts=list(present_accounts(found.accounts, viewer_id).values()),
            statuses=present_statuses(found.statuses, viewer_id),
            hashtags=present_tags(tags, view_tags(tags, self.viewer_id)) if tags else [],
            collections=[CollectionSerializer(each).data for each in load_visible(found.collections, viewer_id)],
        )
        return SearchSerializer(results).data


_FOLLOWED_PAGES: Final = ByCursor(Limit(100, 200), prev="since_id", takes_min_id=True)


class TagsViewSet(ApiViewSet):
    """`/api/v1/tags/:name` and `/api/v1/followed_tags`. The response for an invalid hashtag is 404."""

    endpoints = {
        "retrieve": Endpoint(optional_user(), "Tag"),
        "follow": Endpoint(user("write:follows", "follow"), "Tag", throttles=family("follows")),
        "unfollow": Endpoint(user("write:follows", "follow"), "Tag"),
        "feature": Endpoint(user("write:accounts"), "Tag"),
        "unfeature": Endpoint(user("write:accounts"), "Tag"),
        "followed": Endpoint(user("read:follows", "follow"), "Tag", many=True, paging=_FOLLOWED_PAGES),
    }

    def retrieve(self, request: Request, name: str) -> Any:
        """Return a hashtag, whether or not anyone has used it."""
        return self._tag_entity(find_tag(name, self.viewer_id))

    def follow(self, request: Request, name: str) -> Any:
        """Follow a hashtag: its public posts are added to the caller's home timeline."""
        return self._tag_entity(follow_tag(account_id=self.account_id, name=name))

    def unfollow(self, request: Request, name: str) -> Any:
        """Unfollow a hashtag."""
        tag = find_tag(name, self.account_id)
        unfollow_tag(account_id=self.account_id, tag=tag)
        return self._tag_entity(tag)

    def feature(self, request: Request, name: str) -> Any:
        """Feature a hashtag on the caller's profile."""
        found_tag = named_tag(name)
        featured = feature_used_tag(account=find_own_account(self.account_id), name=found_tag.display_name)
        return self._tag_entity(featured.tag)

    def unfeature(self, request: Request, name: str) -> Any:
        """Remove a hashtag from the caller's profile."""
        tag = find_tag(name, self.account_id)
        unfeature_tag_named(account=find_own_account(self.account_id), tag=tag)
        return self._tag_entity(tag)

    def followed(self, request: Request) -> HttpResponse:
        """List the hashtags that the caller follows, the latest follow first."""
        page = self.paginate(list_followed_tags(self.account_id))
        tags = [row.tag for row in page.items]
        return page.respond(present_tags(tags, view_tags(tags, self.account_id)))

    def _tag_entity(self, tag: Tag) -> Any:
        return present_tags([tag], view_tags([tag], self.viewer_id))[0]


TAGS_PATH: Final = "/api/v1/trends/tags"
#: Mastodon 3.5.0, 2022-03-30 (contract, endpoints).
_DEPRECATION_TIME: Final = 1_648_598_400
_TAG_PAGES: Final = ByOffset(Limit(10, 20), links=True, path=TAGS_PATH)


class TrendsViewSet(ApiViewSet):
    """Trends, also for anonymous viewers; posts of accounts that a viewer blocks or mutes are left out."""

    endpoints = {
        "tags": Endpoint(optional_user(), "Tag", many=True, paging=_TAG_PAGES),
        "old_tags": Endpoint(optional_user(), "Tag", many=True, paging=_TAG_PAGES, deprecated=_DEPRECATION_TIME),
        "statuses": Endpoint(optional_user(), "Status", many=True, paging=ByOffset(Limit(20, 40), links=True)),
        "links": Endpoint(optional_user(), "PreviewCard", many=True, paging=ByOffset(Limit(10, 20), links=True)),
    }

    def tags(self, request: Request) -> HttpResponse:
        """List trending hashtags, the strongest first."""
        page = self.paginate(list_allowed_ids(TrendKind.TAG))
        tags = load_tags(page.items)
        return page.respond(present_tags(tags, view_tags(tags, self.viewer_id)) if tags else [])

    def old_tags(self, request: Request) -> HttpResponse:
        """List trending hashtags at the path that clients used before Mastodon 3.5; the links lead to the newer path."""
        return self.tags(request)

    def statuses(self, request: Request) -> HttpResponse:
        """List trending posts, the strongest first."""
        found = select(list_allowed_ids(TrendKind.STATUS), self.viewer_id, THREAD.shows)
        page = self.paginate(found.rows)
        found.rows = page.items
        return page.respond(present(fill(found)) if found.rows else [])

    def links(self, request: Request) -> HttpResponse:
        """List trending links, the strongest first."""
        page = self.paginate(list_allowed_ids(TrendKind.LINK))
        return page.respond(present_trending_links(load_cards(page.items), self.viewer_id))
