"""Notes, once a day for each browser, that somebody who is signed in was here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.models import User
from accounts.services.sessions import note_visit
from social.api.addresses import client_ip
from social.kernel import clock

_DAY: Final = "visited_on"
_BRANDS_LIMIT: Final = 300


class VisitsMiddleware:
    """The session remembers the day, so that other visits of that day write nothing. Stands behind authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Note the visit, then serve the request."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and isinstance(request.user, User):
            note(request, request.user)
        return self.get_response(request)


def note(request: HttpRequest, user: User) -> None:
    """Note that this user is here with this browser, unless that has been done today."""
    today = clock.now().date().isoformat()
    session_key = request.session.session_key
    if session_key is None or request.session.get(_DAY) == today:
        return
    note_visit(
        user=user,
        session_key=session_key,
        address=client_ip(request),
        user_agent=request.headers.get("User-Agent", ""),
        brands=request.headers.get("Sec-CH-UA", "")[:_BRANDS_LIMIT],
    )
    request.session[_DAY] = today
