"""Views that become pages, and `/robots.txt`: paths that crawlers should not read (RFC 9309)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from social.kernel.errors import KernelError
from social.pages.errors import of_kernel
from social.pages.frame import allow_scripts, frame, protect

View = Callable[..., HttpResponseBase]


def page(view: View, *, in_popup: bool = False) -> View:
    """Wrap a view whose answers are pages: it gives them frame and security headers, and shows kernel errors.

    `in_popup`: the page is a step of signing in or of authorizing an application, which web clients open in a popup.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except KernelError as error:
            response = of_kernel(request, error)
        if isinstance(response, TemplateResponse):
            response.context_data = {**frame(request), **(response.context_data or {})}
        protect(response, in_popup=in_popup)
        return response

    return wrapped


def with_script(view: View) -> View:
    """Let a page run a script of this server: browsers hand out passkeys to scripts only. Stands inside `page`."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return allow_scripts(view(request, *args, **kwargs))

    return wrapped


# Pages say for themselves whether they may be indexed; these only cost work and lead nowhere.
_DISALLOWED_PATHS: Final = (
    "/admin/",
    "/api/",
    "/auth/",
    "/authorize_interaction",
    "/media_proxy/",
    "/oauth/",
    "/share",
)
_TEXT: Final = "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in _DISALLOWED_PATHS)])


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """`/robots.txt`."""
    response = HttpResponse(_TEXT, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
