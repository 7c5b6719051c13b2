"""`GET /api/openapi.json`: the OpenAPI document of all endpoints, generated from their declarations before a release."""

from pathlib import Path
from typing import Final

from django.http import HttpResponse
from rest_framework.request import Request

from social.api.access import anyone
from social.api.declarations import Endpoint
from social.api.responses import CONTENT_TYPE
from social.api.routing import endpoint
from social.api.viewsets import ApiViewSet

DOCUMENT: Final = Path(__file__).with_name("openapi.json")


class OpenApiViewSet(ApiViewSet):
    endpoints = {"document": Endpoint(anyone(), "OpenApi", cache_control="public, max-age=300")}

    def document(self, request: Request) -> HttpResponse:
        """Show the OpenAPI document."""
        return HttpResponse(DOCUMENT.read_bytes(), content_type=CONTENT_TYPE)


urlpatterns = [endpoint("api/openapi.json", OpenApiViewSet, {"get": "document"})]
