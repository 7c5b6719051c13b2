"""Records the visits of signed-in users, once a day for each browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.identity.services.sessions import note_visit
from accounts.models import User
from social.api.addresses import client_ip
from social.kernel import clock

_DAY: Final = "visited_on"
_BRANDS_LIMIT: Final = 300


class VisitsMiddleware:
    """Records visits, after the authentication middleware. The session has the day of the last one, which is recorded
    once.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Record the visit, then serve the request."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and isinstance(request.user, User):
            note(request, request.user)
        return self.get_response(request)


def note(request: HttpRequest, user: User) -> None:
    """Record that this user has visited with this browser, unless a visit of today is already recorded."""
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
