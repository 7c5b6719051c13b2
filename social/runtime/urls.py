"""URLs for operators and for uploaded files; only the first URL is part of the contract."""

from django.urls import re_path

from social.runtime.files import media
from social.runtime.health import live, ready
from social.runtime.metrics import metrics

urlpatterns = [
    re_path(r"^health/?$", live),
    re_path(r"^health/ready/?$", ready),
    re_path(r"^metrics/?$", metrics),
    re_path(r"^system/(?P<path>.+)$", media),
]
