"""`/robots.txt`: paths that crawlers should not read (RFC 9309)."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

# Pages say for themselves whether they may be indexed; these only cost work and lead nowhere.
_CLOSED: Final = ("/admin/", "/api/", "/auth/", "/media_proxy/", "/oauth/")
_TEXT: Final = "".join(["User-agent: *\n", *(f"Disallow: {path}\n" for path in _CLOSED)])


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """`/robots.txt`."""
    response = HttpResponse(_TEXT, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response
