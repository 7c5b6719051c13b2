from django.urls import path, re_path

from accounts.collections import pages
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
    re_path(r"^collections/(?P<id>[0-9]{1,19})/?$", page(pages.collection), name="collection"),
    path("collections", member_page(pages.collections), name="collections"),
    path("collections/<int:id>/edit", member_page(pages.edit_collection), name="edit_collection"),
    path("collections/<int:id>/delete", member_page(pages.remove_collection), name="delete_collection"),
    path("collections/<int:id>/leave", member_page(pages.leave_collection), name="leave_collection"),
    path("people/<int:id>/collections", member_page(pages.of_person), name="person_collections"),
]
