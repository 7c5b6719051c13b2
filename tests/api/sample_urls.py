"""The routes of the sample API, and of a page that fails."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from social.api.routing import endpoint
from tests.api.sample import AccessViewSet, EchoViewSet, FailuresViewSet, FeedViewSet, TagsViewSet


def _broken_page(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a page broke")


def _form_page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


_EVERY_METHOD = ("get", "post", "put", "patch", "delete")
urlpatterns = [
    endpoint("api/v1/tags", TagsViewSet, {"get": "list", "post": "create"}),
    endpoint("api/v1/tags/index", TagsViewSet, {"get": "index"}),
    endpoint("api/v1/tags/offsets", TagsViewSet, {"get": "offsets"}),
    endpoint("api/v1/tags/asking", TagsViewSet, {"get": "asking"}),
    endpoint("api/v1/tags/unflat", TagsViewSet, {"get": "unflat"}),
    endpoint("api/v1/tags/<id>", TagsViewSet, {"get": "retrieve", "delete": "destroy"}),
    *(
        endpoint(f"api/v1/access/{name}", AccessViewSet, {"get": name, "post": name})
        for name in AccessViewSet.endpoints
    ),
    *(
        endpoint(f"api/v1/echo/{name}", EchoViewSet, dict.fromkeys(_EVERY_METHOD, name))
        for name in ("echo", "big", "draft", "detailed")
    ),
    endpoint("api/v1/feed", FeedViewSet, {"get": "list"}),
    endpoint("api/v1/failures/drf", FailuresViewSet, {"get": "drf"}),
    endpoint("api/v1/failures/created", FailuresViewSet, {"get": "created"}),
    endpoint("api/v1/failures/<name>", FailuresViewSet, {"get": "raise_it"}),
    path("pages/broken", _broken_page),
    path("pages/form", _form_page, name="form_page"),
    # Every page links to the manifest.
    path("manifest", _form_page, name="manifest"),
]
