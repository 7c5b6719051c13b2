"""Knows every address of the web process: one list per floor, in one tree that finds a path in microseconds."""

from __future__ import annotations

from importlib.util import find_spec

from django.apps import apps
from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from social.api.routing import ApiRouter

_FLOORS = ("accounts", "statuses", "timelines", "moderation", "notifications", "federation")

urlpatterns = [
    path("", include("social.runtime.urls")),
    # Browsers ask for it by this name wherever a page names no icon: pictures, documents, errors of a proxy.
    path("favicon.ico", RedirectView.as_view(url=static("favicon.ico"))),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    # A floor that is unplugged, or has no doors, has no list.
    ApiRouter(
        "accounts.urls_oauth",
        *(f"{floor}.urls" for floor in _FLOORS if apps.is_installed(floor) and find_spec(f"{floor}.urls")),
    ),
]
handler404 = "social.api.pages.not_found"
handler500 = "social.api.pages.server_error"
handler403 = "social.api.pages.forbidden"
handler400 = "social.api.pages.bad_request"
