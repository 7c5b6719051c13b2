"""Records visits, once a day for each browser, and remembers browsers, so that failed sign-in attempts of strangers do
not lock out the people who use these browsers. A cookie names the browser and the people who signed in with it; each
browser has its own counter of attempts (security row 81; OWASP "Slow Down Online Guessing Attacks with Device
Cookies").
"""

from collections.abc import Callable
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from accounts.identity.services.sessions import record_visit
from accounts.models import User
from social.api.addresses import client_ip
from social.kernel import clock

_DAY: Final = "visited_on"
_BRANDS_LIMIT: Final = 300


class VisitsMiddleware:
    """Records the first visit of each day in each session. It runs after the authentication middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and isinstance(request.user, User):
            record_daily_visit(request, request.user)
        return self.get_response(request)


def record_daily_visit(request: HttpRequest, user: User) -> None:
    """Record that this user has visited with this browser, unless today's visit is already recorded."""
    today = clock.now().date().isoformat()
    session_key = request.session.session_key
    if session_key is None or request.session.get(_DAY) == today:
        return
    record_visit(
        user=user,
        session_key=session_key,
        address=client_ip(request),
        user_agent=request.headers.get("User-Agent", ""),
        brands=request.headers.get("Sec-CH-UA", "")[:_BRANDS_LIMIT],
    )
    request.session[_DAY] = today


_SALT: Final = "known browser"
_COOKIE_SECONDS: Final = 365 * 86400
#: Number of people that the cookie of a browser remembers; the person who signed in longest ago is dropped first.
_PEOPLE: Final = 5


def find_browser(request: HttpRequest, email: str) -> str | None:
    """Return the name of this browser, if the person with this e-mail address has signed in with it; otherwise None."""
    return _read(request).get(_email_hash(email))


def remember_browser(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Set the cookie of a browser in which somebody has just signed in; browsers send it only to the sign-in page."""
    known = _read(request)
    name = known.pop(_email_hash(email), None) or token_urlsafe(16)
    others = [*known.items()][1 - _PEOPLE :]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        signing.dumps([*others, (_email_hash(email), name)], salt=_SALT),
        max_age=_COOKIE_SECONDS,
        path=reverse("account_login"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, str]:
    try:
        browsers = signing.loads(
            request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, ""), salt=_SALT, max_age=_COOKIE_SECONDS
        )
    except signing.BadSignature:
        return {}
    return {str(mark): str(name) for mark, name in browsers}


def _email_hash(email: str) -> str:
    return sha256(email.lower().encode()).hexdigest()[:16]
