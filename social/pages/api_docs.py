"""Page to read the OpenAPI document and to try its endpoints, at `/api/docs`.

It is Swagger UI, whose files come with drf-spectacular-sidecar: browsers alone read them, so no process loads more for it.
"""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_safe

from social.pages.frame import allow_scripts, show
from social.pages.views import page


@require_safe
def api_docs(request: HttpRequest) -> HttpResponseBase:
    """The page: what is tried there is done on this server, with a token or by OAuth."""
    return allow_scripts(show(request, "pages/api_docs.html", {}))


@require_safe
def api_docs_authorized(request: HttpRequest) -> HttpResponseBase:
    """The end of OAuth: hands the code to the page that has opened this window, and closes it."""
    return allow_scripts(show(request, "pages/api_docs_authorized.html", {}))


# Both keep the handle of the window that OAuth is in.
urlpatterns = [
    path("api/docs", page(api_docs, in_popup=True), name="api_docs"),
    path("api/docs/authorized", page(api_docs_authorized, in_popup=True), name="api_docs_authorized"),
]
