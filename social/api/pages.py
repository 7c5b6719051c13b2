"""Knows what is answered where no view is: JSON under /api, a plain page for people elsewhere.

The front door names these: `handler400 = "social.api.pages.bad_request"`, `handler403 = ...forbidden`,
`handler404 = ...not_found`, `handler500 = ...server_error`. They need neither database nor session.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.utils.translation import gettext as _

from social.api import responses
from social.api.middleware import is_sessionless


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: the request itself is broken."""
    return _answer(request, 400, _("Bad Request"), _("Your browser sent something this server could not read."))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: understood and refused."""
    return _answer(request, 403, _("This action is not allowed"), _("You may not see or do this."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404, for a path nobody serves too."""
    return _answer(request, 404, _("Not Found"), _("There is nothing at this address, or it is not for you to see."))


def server_error(request: HttpRequest) -> HttpResponse:
    """500: the trace is in the log, under the request's id."""
    explanation = _("Something went wrong on this server. Trying again later may help.")
    return _answer(request, 500, _("Internal Server Error"), explanation)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: a form without its token, mostly from a page open for too long or a browser without cookies."""
    explanation = _(
        "This page was open for too long, or your browser keeps no cookies. Go back, reload, and try again."
    )
    return _answer(request, 403, _("The form could not be checked"), explanation)


def _answer(request: HttpRequest, status: int, title: str, explanation: str) -> HttpResponse:
    if is_sessionless(request.path_info):
        return responses.error(title, status=status)
    context: dict[str, Any] = {
        "status": status,
        "title": title,
        "explanation": explanation,
        "request_id": getattr(request, "id", ""),
        "site_domain": settings.LOCAL_DOMAIN,
    }
    response = HttpResponse(loader.render_to_string("error.html", context), status=status)
    response.headers["Cache-Control"] = "private, no-store"
    return response
