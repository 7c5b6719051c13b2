"""Knows every address of the web process: one include per floor."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

_FLOORS = ("accounts", "statuses", "timelines", "moderation", "notifications", "federation")

urlpatterns = [
    path("", include("social.runtime.urls")),
    path("", include("accounts.urls_oauth")),
    # A floor without doors has no urls module.
    *(path("", include(f"{floor}.urls")) for floor in _FLOORS if find_spec(f"{floor}.urls")),
    path("admin/", admin.site.urls),
    path("", include("social.api.urls")),
]
handler404 = "social.api.pages.not_found"
handler500 = "social.api.pages.server_error"
handler403 = "social.api.pages.forbidden"
handler400 = "social.api.pages.bad_request"
