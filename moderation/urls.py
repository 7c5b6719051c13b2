"""The doors of the floor of rules."""

from moderation.viewsets.instance import InstanceViewSet
from social.api.routing import endpoint

urlpatterns = [
    endpoint("api/v2/instance", InstanceViewSet, {"get": "retrieve"}),
    endpoint("api/v1/instance", InstanceViewSet, {"get": "retrieve_v1"}),
    endpoint("api/v1/instance/rules", InstanceViewSet, {"get": "rules"}),
]
