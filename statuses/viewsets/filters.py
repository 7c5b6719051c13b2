"""HTTP endpoints for filters: the newer API, and the older API, in which each keyword is a filter."""

from typing import Any

from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import Endpoint
from social.api.viewsets import ApiViewSet
from statuses.queries.filters import find_filter, find_filter_status, find_keyword, list_filters, list_keywords
from statuses.serializers import filter as entities
from statuses.serializers.inputs.filters import FilterInput, FilterStatusInput, FilterV1Input, KeywordInput
from statuses.services import filters

_READ_ACCESS = user("read:filters")
_WRITE_ACCESS = user("write:filters")
# The time of Mastodon's release 4.0, in seconds.
_DEPRECATION_4_0 = 1668384000


class FiltersViewSet(ApiViewSet):
    """`/api/v2/filters` with the keywords and posts of filters."""

    endpoints = {
        "list": Endpoint(_READ_ACCESS, "Filter", many=True),
        "create": Endpoint(_WRITE_ACCESS, "Filter", input=FilterInput),
        "retrieve": Endpoint(_READ_ACCESS, "Filter"),
        "update": Endpoint(_WRITE_ACCESS, "Filter", input=FilterInput),
        "destroy": Endpoint(_WRITE_ACCESS, "Empty"),
        "keywords": Endpoint(_READ_ACCESS, "FilterKeyword", many=True),
        "add_keyword": Endpoint(_WRITE_ACCESS, "FilterKeyword", input=KeywordInput),
        "statuses": Endpoint(_READ_ACCESS, "FilterStatus", many=True),
        "add_status": Endpoint(_WRITE_ACCESS, "FilterStatus", input=FilterStatusInput),
    }

    def list(self, request: Request) -> Any:
        """`GET /api/v2/filters`: all of the caller's filters, including expired filters."""
        return entities.FilterSerializer(list(list_filters(self.account_id)), many=True).data

    def create(self, request: Request) -> Any:
        """`POST /api/v2/filters`."""
        new_filter = filters.create_filter(account_id=self.account_id, draft=FilterInput.read(request))
        return self._filter_entity(new_filter.id)

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v2/filters/:id`."""
        return self._filter_entity(id)

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v2/filters/:id`."""
        filters.update_filter(found=find_filter(id, self.account_id), draft=FilterInput.read(request))
        return self._filter_entity(id)

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v2/filters/:id`."""
        filters.delete_filter(found=find_filter(id, self.account_id))
        return {}

    def keywords(self, request: Request, filter_id: int) -> Any:
        """`GET /api/v2/filters/:filter_id/keywords`."""
        return entities.FilterKeywordSerializer(
            list(find_filter(filter_id, self.account_id).keywords.all()), many=True
        ).data

    def add_keyword(self, request: Request, filter_id: int) -> Any:
        """`POST /api/v2/filters/:filter_id/keywords`."""
        found = find_filter(filter_id, self.account_id)
        return entities.FilterKeywordSerializer(filters.add_keyword(found=found, draft=KeywordInput.read(request))).data

    def statuses(self, request: Request, filter_id: int) -> Any:
        """`GET /api/v2/filters/:filter_id/statuses`."""
        return entities.FilterStatusSerializer(
            list(find_filter(filter_id, self.account_id).statuses.all()), many=True
        ).data

    def add_status(self, request: Request, filter_id: int) -> Any:
        """`POST /api/v2/filters/:filter_id/statuses`."""
        found = find_filter(filter_id, self.account_id)
        filter_status = filters.add_status(found=found, status_id=FilterStatusInput.read(request).status_id)
        return entities.FilterStatusSerializer(filter_status).data

    def _filter_entity(self, filter_id: int) -> Any:
        return entities.FilterSerializer(find_filter(filter_id, self.account_id)).data


class FilterKeywordsViewSet(ApiViewSet):
    endpoints = {
        "retrieve": Endpoint(_READ_ACCESS, "FilterKeyword"),
        "update": Endpoint(_WRITE_ACCESS, "FilterKeyword", input=KeywordInput),
        "destroy": Endpoint(_WRITE_ACCESS, "Empty"),
    }

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v2/filters/keywords/:id`."""
        return entities.FilterKeywordSerializer(find_keyword(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v2/filters/keywords/:id`."""
        found = find_keyword(id, self.account_id)
        filters.update_keyword(found=found, draft=KeywordInput.read(request))
        return entities.FilterKeywordSerializer(found).data

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v2/filters/keywords/:id`."""
        filters.remove_from_filter(found=find_keyword(id, self.account_id))
        return {}


class FilterStatusesViewSet(ApiViewSet):
    endpoints = {"retrieve": Endpoint(_READ_ACCESS, "FilterStatus"), "destroy": Endpoint(_WRITE_ACCESS, "Empty")}

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v2/filters/statuses/:id`."""
        return entities.FilterStatusSerializer(find_filter_status(id, self.account_id)).data

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v2/filters/statuses/:id`."""
        filters.remove_from_filter(found=find_filter_status(id, self.account_id))
        return {}


class FiltersV1ViewSet(ApiViewSet):
    """`/api/v1/filters`: one entry per keyword, under the keyword's id."""

    endpoints = {
        "list": Endpoint(_READ_ACCESS, "FilterV1", many=True, deprecated=_DEPRECATION_4_0),
        "create": Endpoint(_WRITE_ACCESS, "FilterV1", input=FilterV1Input, deprecated=_DEPRECATION_4_0),
        "retrieve": Endpoint(_READ_ACCESS, "FilterV1", deprecated=_DEPRECATION_4_0),
        "update": Endpoint(_WRITE_ACCESS, "FilterV1", input=FilterV1Input, deprecated=_DEPRECATION_4_0),
        "destroy": Endpoint(_WRITE_ACCESS, "Empty", deprecated=_DEPRECATION_4_0),
    }

    def list(self, request: Request) -> Any:
        """`GET /api/v1/filters`."""
        return entities.FilterV1Serializer(list(list_keywords(self.account_id)), many=True).data

    def create(self, request: Request) -> Any:
        """`POST /api/v1/filters`: a filter with one keyword."""
        form = FilterV1Input.read(request)
        new_filter = filters.create_with_keyword(account_id=self.account_id, draft=form.filter, keyword=form.keyword)
        return entities.FilterV1Serializer(new_filter).data

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/filters/:id`."""
        return entities.FilterV1Serializer(find_keyword(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/filters/:id`."""
        found = find_keyword(id, self.account_id)
        form = FilterV1Input.read(request)
        filters.update_with_keyword(found=found, draft=form.filter, keyword=form.keyword)
        return entities.FilterV1Serializer(found).data

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/filters/:id`: removes the keyword from its filter; the filter stays."""
        filters.remove_from_filter(found=find_keyword(id, self.account_id))
        return {}
