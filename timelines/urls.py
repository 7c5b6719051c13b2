"""The doors of the floor of timelines."""

from social.api.routing import endpoint
from timelines.viewsets.streaming import StreamingRedirectViewSet
from timelines.viewsets.timelines import TimelinesViewSet

urlpatterns = [
    endpoint("api/v1/timelines/home", TimelinesViewSet, {"get": "home"}),
    endpoint("api/v1/timelines/public", TimelinesViewSet, {"get": "public"}),
    endpoint("api/v1/timelines/tag/<hashtag>", TimelinesViewSet, {"get": "tag"}),
    endpoint("api/v1/streaming", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>", StreamingRedirectViewSet, {"get": "redirect"}),
    endpoint("api/v1/streaming/<stream>/<variant>", StreamingRedirectViewSet, {"get": "redirect"}),
]
