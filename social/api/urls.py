"""The last of the API's paths: whatever no floor serves. Only needed where the floors are not behind an ApiRouter."""

from django.urls import re_path

from social.api.routing import unknown_path

urlpatterns = [re_path(r"^api(?:/|$)", unknown_path)]
