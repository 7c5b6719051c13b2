"""The API URLs of imports of somebody's old posts."""

from accounts.transfers.viewsets import PastImportsViewSet
from social.api.routing import endpoint

_IMPORTS = "api/v1/past_imports"
urlpatterns = [
    endpoint(_IMPORTS, PastImportsViewSet, {"get": "list", "post": "create"}),
    endpoint(f"{_IMPORTS}/<id>", PastImportsViewSet, {"get": "retrieve", "delete": "destroy"}),
    endpoint(f"{_IMPORTS}/<id>/start", PastImportsViewSet, {"post": "start"}),
    endpoint(f"{_IMPORTS}/<id>/undo", PastImportsViewSet, {"post": "undo"}),
    endpoint(f"{_IMPORTS}/<id>/left_out", PastImportsViewSet, {"get": "left_out"}),
]
