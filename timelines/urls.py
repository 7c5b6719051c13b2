"""The URLs of the timelines app."""

from django.urls import re_path

from social.api.routing import endpoint
from social.pages.views import page
from timelines.pages.tags import tag
from timelines.viewsets.streaming import StreamingRedirectViewSet
from timelines.viewsets.timelines import TimelinesViewSet

urlpatterns = [
    endpoint("api/v1/timelines/home", TimelinesViewSet, {"get": "home"}),
    endpoint("api/v1/timelines/public", TimelinesViewSet, {"get": "public"}),
    endpoint("api/v1/timelines/tag/<hashtag>", TimelinesViewSet, {"get": "tag"}),
    endpoint("api/v1/streaming", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>/<variant>", StreamingRedirectViewSet, {"get": "redirect"}),
    # A path of any depth: clients are sent on whatever it names (SEED-127).
    re_path(r"^api/v1/streaming/.+", StreamingRedirectViewSet.as_view({"get": "redirect"})),
    re_path(r"^tags/(?P<name>[^/]+)/?$", page(tag), name="tag"),
]
