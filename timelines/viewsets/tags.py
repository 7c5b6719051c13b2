"""Hashtags over HTTP: looking at one, following, and showing it on one's profile."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Tag
from accounts.queries.tags import list_followed_tags, named_tag, view_tags
from accounts.queries.users import find_own_account
from accounts.serializers.tag import present_tags
from accounts.services.featured_tags import unfeature_tag_named
from accounts.services.tag_follows import follow_tag, unfollow_tag
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.limits import family
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from statuses.queries.tags import find_tag
from statuses.services.featured_tags import feature_used_tag

_FOLLOWED: Final = ByCursor(Limit(100, 200), prev="since_id", takes_min_id=True)


class TagsViewSet(ApiViewSet):
    """`/api/v1/tags/:name` and `/api/v1/followed_tags`. A name that is no hashtag is not found."""

    endpoints = {
        "retrieve": Endpoint(optional_user(), "Tag"),
        "follow": Endpoint(user("write:follows", "follow"), "Tag", throttles=family("follows")),
        "unfollow": Endpoint(user("write:follows", "follow"), "Tag"),
        "feature": Endpoint(user("write:accounts"), "Tag"),
        "unfeature": Endpoint(user("write:accounts"), "Tag"),
        "followed": Endpoint(user("read:follows", "follow"), "Tag", many=True, paging=_FOLLOWED),
    }

    def retrieve(self, request: Request, name: str) -> Any:
        """A hashtag, whether anybody has used it or not."""
        return self._shown(find_tag(name, self.viewer_id))

    def follow(self, request: Request, name: str) -> Any:
        """Have its public posts come into one's home timeline."""
        return self._shown(follow_tag(account_id=self.account_id, name=name))

    def unfollow(self, request: Request, name: str) -> Any:
        """Have them come no more."""
        tag = find_tag(name, self.account_id)
        unfollow_tag(account_id=self.account_id, tag=tag)
        return self._shown(tag)

    def feature(self, request: Request, name: str) -> Any:
        """Show it on one's profile."""
        named = named_tag(name)
        featured = feature_used_tag(account=find_own_account(self.account_id), name=named.display_name)
        return self._shown(featured.tag)

    def unfeature(self, request: Request, name: str) -> Any:
        """Take it off one's profile."""
        tag = find_tag(name, self.account_id)
        unfeature_tag_named(account=find_own_account(self.account_id), tag=tag)
        return self._shown(tag)

    def followed(self, request: Request) -> HttpResponse:
        """The hashtags one follows, the latest follow first."""
        page = self.paginate(list_followed_tags(self.account_id))
        tags = [row.tag for row in page.items]
        return page.respond(present_tags(tags, view_tags(tags, self.account_id)))

    def _shown(self, tag: Tag) -> Any:
        return present_tags([tag], view_tags([tag], self.viewer_id))[0]
