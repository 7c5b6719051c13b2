"""The URLs of collections."""

from django.urls import re_path

from accounts.collections.pages import collection
from accounts.collections.viewsets import CollectionsViewSet
from social.api.routing import endpoint
from social.pages.views import page

urlpatterns = [
    endpoint("api/v1/accounts/<id>/collections", CollectionsViewSet, {"get": "of_account"}),
    endpoint("api/v1/accounts/<id>/in_collections", CollectionsViewSet, {"get": "with_account"}),
    endpoint("api/v1/collections", CollectionsViewSet, {"post": "create"}),
    endpoint(
        "api/v1/collections/<id>",
        CollectionsViewSet,
        {"get": "retrieve", "put": "update", "delete": "destroy"},
    ),
    endpoint("api/v1/collections/<collection_id>/items", CollectionsViewSet, {"post": "add"}),
    endpoint("api/v1/collections/<collection_id>/items/<id>", CollectionsViewSet, {"delete": "remove"}),
    endpoint("api/v1/collections/<collection_id>/items/<id>/revoke", CollectionsViewSet, {"post": "revoke"}),
    re_path(r"^collections/(?P<id>[0-9]{1,19})/?$", page(collection), name="collection"),
]
