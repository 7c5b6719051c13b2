"""The URLs of the web process: one list per app."""

from importlib.util import find_spec

from django.apps import apps
from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.views.generic import RedirectView

from social.api.routing import api_urls, other_urls
from social.pages import known_paths
from social.pages.views import robots
from social.pages.web_client import web_client, with_slash

# Federation comes first, because Django uses the first of equal URLs, and pages of federation also serve ActivityPub documents.
_APPS = ("federation", "accounts", "statuses", "timelines", "moderation", "notifications")
# Apps that are not installed or have no URLs are left out.
MODULES = (
    *(f"{app}.urls" for app in _APPS if apps.is_installed(app) and find_spec(f"{app}.urls")),
    "social.openapi",
    "accounts.identity.urls",
    "accounts.issuers.urls",
    "accounts.urls_settings",
    "moderation.urls_admin",
)

urlpatterns = [
    *api_urls(*MODULES),
    path("", include("social.runtime.urls")),
    # Browsers request this path for answers that name no icon, such as pictures, JSON documents and proxy errors.
    path("favicon.ico", RedirectView.as_view(url=static("favicon.ico"))),
    path("robots.txt", robots),
    path("", include("social.pages.api_docs")),
    path("app", with_slash),
    path("app/", web_client, name="web_client"),
    path("app/<path:path>", web_client),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
    *known_paths.staff_urlpatterns,
    path("admin/", admin.site.urls),
    *other_urls(*MODULES),
    *known_paths.urlpatterns,
]
handler404 = "social.pages.errors.not_found"
handler500 = "social.pages.errors.server_error"
handler403 = "social.pages.errors.forbidden"
handler400 = "social.pages.errors.bad_request"
