"""Which answers scripts of other sites may read: all of the API, to everybody, without cookies.

Source: contract, behaviours section 1 ("CORS"); clients.md, trap 8; settings CORS_*. The answer is the same for every
origin, so it stands on every response and caches need not store an answer per origin. (django-cors-headers does more and took a
fifth of a trivial request.)
"""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from social.api.responses import set_header


class CorsMiddleware:
    """Answers preflights of the paths of CORS_URLS_REGEX without asking who it is, and marks their answers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.is_open = re.compile(settings.CORS_URLS_REGEX).match
        self.exposed = ", ".join(settings.CORS_EXPOSE_HEADERS)
        self.preflight = {
            "Access-Control-Allow-Methods": ", ".join(settings.CORS_ALLOW_METHODS),
            "Access-Control-Allow-Headers": ", ".join(settings.CORS_ALLOW_HEADERS),
            "Access-Control-Max-Age": str(settings.CORS_PREFLIGHT_MAX_AGE),
        }

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve the request."""
        if not self.is_open(request.path_info):
            return self.get_response(request)
        response: HttpResponseBase
        if request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META:
            response = HttpResponse(b"", headers=self.preflight)
            del response.headers["Content-Type"]
        else:
            response = self.get_response(request)
        set_header(response, "Access-Control-Allow-Origin", "*")
        set_header(response, "Access-Control-Expose-Headers", self.exposed)
        return response
