"""`/api/v2/search`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.queries.collections import find_shown
from accounts.queries.tags import view_tags
from accounts.serializers.collection import CollectionSerializer
from accounts.serializers.presenting import present_accounts
from accounts.serializers.tag import present_tags
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Forbidden, Invalid, NotFound
from statuses.serializers.presenting import present_statuses
from timelines.policies.search_query import InvalidDate
from timelines.serializers.inputs.search import SearchInput
from timelines.serializers.search import Results, SearchSerializer
from timelines.services.searching import search


class SearchViewSet(ApiViewSet):
    """Accounts, posts and hashtags by words; anything by its address."""

    endpoints = {"search": Endpoint(user("read:search"), "Search", input=SearchInput)}

    def search(self, request: Request) -> Any:
        """What the caller may find (contract, behaviours section 15)."""
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
            collections=_collections(found.collections, viewer_id),
        )
        return SearchSerializer(results).data


def _collections(ids: Iterable[int], viewer_id: int) -> list[Any]:
    """At most one is asked for: by its address."""
    shown = []
    for number in ids:
        with suppress(NotFound, Forbidden):
            shown.append(CollectionSerializer(find_shown(number, viewer_id)).data)
    return shown
