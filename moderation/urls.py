"""The URLs of the moderation app."""

from django.urls import path

from moderation.pages.about import about, privacy_policy
from moderation.viewsets.instance import InstanceViewSet
from social.api.routing import endpoint
from social.pages.views import page

urlpatterns = [
    endpoint("api/v2/instance", InstanceViewSet, {"get": "retrieve"}),
    endpoint("api/v1/instance", InstanceViewSet, {"get": "retrieve_v1"}),
    endpoint("api/v1/instance/rules", InstanceViewSet, {"get": "rules"}),
    path("about", page(about), name="about"),
    # What stands for this server among others names this one as its page (contract, federation section 2).
    path("about/more", page(about)),
    path("privacy-policy", page(privacy_policy), name="privacy_policy"),
]
