"""The URLs of the statuses app."""

from django.urls import re_path

from social.api.routing import endpoint
from social.pages.views import page
from statuses.pages.tagged import tagged
from statuses.viewsets.featured_tags import FeaturedTagsViewSet
from statuses.viewsets.media import MediaViewSet
from statuses.viewsets.statuses import AccountStatusesViewSet, StatusesViewSet

STATUS = "api/v1/statuses/<id>"
urlpatterns = [
    endpoint("api/v1/statuses", StatusesViewSet, {"get": "list", "post": "create"}),
    endpoint(STATUS, StatusesViewSet, {"get": "retrieve", "delete": "destroy"}),
    endpoint(f"{STATUS}/context", StatusesViewSet, {"get": "context"}),
    endpoint(f"{STATUS}/favourited_by", StatusesViewSet, {"get": "favourited_by"}),
    endpoint(f"{STATUS}/reblogged_by", StatusesViewSet, {"get": "reblogged_by"}),
    *(
        endpoint(f"{STATUS}/{name}", StatusesViewSet, {"post": name})
        for name in ("favourite", "unfavourite", "reblog", "unreblog")
    ),
    endpoint("api/v1/accounts/<id>/statuses", AccountStatusesViewSet, {"get": "list"}),
    endpoint("api/v1/featured_tags", FeaturedTagsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/featured_tags/suggestions", FeaturedTagsViewSet, {"get": "suggestions"}),
    endpoint("api/v1/featured_tags/<id>", FeaturedTagsViewSet, {"delete": "destroy"}),
    endpoint("api/v1/accounts/<id>/featured_tags", FeaturedTagsViewSet, {"get": "of_account"}),
    re_path(r"^@(?P<username>[A-Za-z0-9_.-]+)/tagged/(?P<name>[^/]+)/?$", page(tagged), name="tagged"),
    endpoint("api/v1/media", MediaViewSet, {"post": "create_v1"}),
    endpoint("api/v2/media", MediaViewSet, {"post": "create"}),
    endpoint(
        "api/v1/media/<id>",
        MediaViewSet,
        {"get": "retrieve", "put": "update", "patch": "update"} | {"delete": "destroy"},
    ),
]
