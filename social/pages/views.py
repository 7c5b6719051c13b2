"""Decorators for the views of pages, and `/robots.txt` with the paths that crawlers should not read (RFC 9309)."""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from social.kernel.errors import KernelError
from social.pages import typed
from social.pages.errors import not_allowed, of_kernel
from social.pages.frame import allow_scripts, frame, protect, sharing_of_site

View = Callable[..., HttpResponseBase]
_compression: Final = GZipMiddleware(lambda request: HttpResponse())


def page(view: View, *, in_popup: bool = False, after_form: HTTPStatus = HTTPStatus.SEE_OTHER) -> View:
    """Wrap a view whose answers are pages: add the frame and the security headers, and show kernel errors as pages.

    `in_popup`: the page is a step of signing in or of authorizing an application, which web clients open in a popup.
    `after_form`: the status of redirects after a form.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        stored = typed.find(request) if typed.PARAMETER in request.GET else None
        try:
            response = view(request, *args, **kwargs)
        except KernelError as error:
            response = of_kernel(request, error)
        if isinstance(response, HttpResponseNotAllowed):
            response = not_allowed(request, response)
        if request.method not in ("GET", "HEAD") and response.status_code == HTTPStatus.FOUND:
            # After 302 clients may send the form to the next page again (RFC 9110 section 15.4.3).
            response.status_code = after_form
        of_member = False
        if isinstance(response, TemplateResponse):
            around = {**frame(request), "sharing": sharing_of_site(_canonical(request)), "in_popup": in_popup}
            response.context_data = {**around, **(response.context_data or {})}
            of_member = settings.SESSION_COOKIE_NAME in request.COOKIES and not in_popup
        if of_member:
            typed.name_reader(request, response)
        if stored is not None:
            response = typed.restore_form(request, response, stored)
        # With `lang` in the query, the answer sets a cookie.
        protect(response, in_popup=in_popup, cookies=bool(request.COOKIES) or "lang" in request.GET, streams=of_member)
        if isinstance(response, TemplateResponse) and response.headers["Cache-Control"].startswith("public"):
            # Compression is safe here, because the page is the same for all readers, so its length reveals no secret (BREACH).
            response.add_post_render_callback(lambda rendered: _compression.process_response(request, rendered))
        return response

    return wrapped


def _canonical(request: HttpRequest) -> str:
    query = request.GET.copy()
    query.pop("lang", None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def with_script(view: View) -> View:
    """Allow a page to run a script of this server, which passkeys need. Applied before `page`."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return allow_scripts(view(request, *args, **kwargs))

    return wrapped


# Requests to these paths are expensive, and useless to crawlers; the other pages themselves declare whether they may be
# indexed.
_DISALLOWED_PATHS: Final = (
    "/admin/", "/api/", "/auth/", "/authorize_interaction", "/media_proxy/", "/oauth/", "/share",
)  # fmt: skip
_TEXT: Final = "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in _DISALLOWED_PATHS)])


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """`GET /robots.txt`, which caches may store for a day."""
    response = HttpResponse(_TEXT, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
