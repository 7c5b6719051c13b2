from django.urls import path, re_path

from accounts.collections.pages import (
    collection,
    collections,
    edit_collection,
    leave_collection,
    of_person,
    remove_collection,
)
from accounts.collections.viewsets import CollectionsViewSet
from accounts.pages.member import member_page
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
    path("collections", member_page(collections), name="collections"),
    path("collections/<int:id>/edit", member_page(edit_collection), name="edit_collection"),
    path("collections/<int:id>/delete", member_page(remove_collection), name="delete_collection"),
    path("collections/<int:id>/leave", member_page(leave_collection), name="leave_collection"),
    path("people/<int:id>/collections", member_page(of_person), name="person_collections"),
]
