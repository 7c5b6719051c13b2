"""Page at `/api/docs` that shows the OpenAPI document and lets developers try its endpoints.

The page is Swagger UI, from the static files of drf-spectacular-sidecar, which browsers load and the server's processes do not.
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_safe

from social.pages.frame import allow_scripts, show
from social.pages.views import page


@require_safe
def api_docs(request: HttpRequest) -> HttpResponseBase:
    """Show the page on which developers try requests to this server, with a token or by OAuth."""
    return allow_scripts(show(request, "pages/api_docs.html", {}))


@require_safe
def api_docs_authorized(request: HttpRequest) -> HttpResponseBase:
    """Show the last page of OAuth, which passes the authorization code to the page that opened this window, and closes it."""
    return allow_scripts(show(request, "pages/api_docs_authorized.html", {}))


# `in_popup`: both pages need the handle of the window in which OAuth runs.
urlpatterns = [
    path("api/docs", page(api_docs, in_popup=True), name="api_docs"),
    path("api/docs/authorized", page(api_docs_authorized, in_popup=True), name="api_docs_authorized"),
]
