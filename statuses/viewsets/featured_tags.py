"""HTTP endpoints for hashtags featured on profiles."""

from collections.abc import Iterable
from typing import Any

from rest_framework.request import Request

from accounts.models import Account, FeaturedTag
from accounts.queries.accounts import find_account
from accounts.queries.tags import list_featured_tags, view_tags
from accounts.queries.users import find_own_account
from accounts.serializers.tag import FeaturedTagSerializer, present_tags
from accounts.services.tags import unfeature_tag
from social.api.access import anyone, user
from social.api.declarations import EMPTY, Endpoint
from social.api.viewsets import ApiViewSet
from statuses.queries.tags import load_suggested_tags
from statuses.serializers.inputs.filters import FeaturedTagInput
from statuses.services.pins import feature_used_tag


class FeaturedTagsViewSet(ApiViewSet):
    """`/api/v1/featured_tags` and the featured hashtags of an account."""

    endpoints = {
        "list": Endpoint(user("read:accounts"), "FeaturedTag", many=True),
        "create": Endpoint(user("write:accounts"), "FeaturedTag", input=FeaturedTagInput),
        "destroy": Endpoint(user("write:accounts"), EMPTY),
        "suggestions": Endpoint(user("read:accounts"), "Tag", many=True),
        "of_account": Endpoint(anyone(), "FeaturedTag", many=True),
    }

    def list(self, request: Request) -> Any:
        """List the caller's featured hashtags, most used first."""
        me = find_own_account(self.account_id)
        return _entities(list_featured_tags(me), me)

    def create(self, request: Request) -> Any:
        """Feature a hashtag on the caller's profile."""
        name = FeaturedTagInput.read(request).name
        me = find_own_account(self.account_id)
        featured = feature_used_tag(account=me, name=name)
        return FeaturedTagSerializer(featured, context={"account": me}).data

    def destroy(self, request: Request, id: int) -> Any:
        """Remove a hashtag from the caller's profile."""
        unfeature_tag(account=find_own_account(self.account_id), featured_tag_id=id)
        return {}

    def suggestions(self, request: Request) -> Any:
        """List the hashtags of the caller's last posts, most used first, except those featured on the profile."""
        tags = load_suggested_tags(self.account_id)
        return present_tags(tags, view_tags(tags, self.account_id))

    def of_account(self, request: Request, id: int) -> Any:
        """List the hashtags featured on an account's profile."""
        account = find_account(id)
        return _entities(list_featured_tags(account), account)


def _entities(featured: Iterable[FeaturedTag], account: Account) -> Any:
    return FeaturedTagSerializer(list(featured), many=True, context={"account": account}).data
