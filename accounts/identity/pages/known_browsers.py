"""Remembers the browsers in which people have signed in, so that failed attempts of strangers do not lock out those
people.

A cookie names the browser and its people; each browser has its own counter of attempts (security row 81; OWASP "Slow
Down Online Guessing Attacks with Device Cookies").
"""

from __future__ import annotations

from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

_SALT: Final = "known browser"
_COOKIE_SECONDS: Final = 365 * 86400
#: Number of people that the cookie of a browser remembers; the person who signed in longest ago is dropped first.
_PEOPLE: Final = 5


def find_browser(request: HttpRequest, email: str) -> str | None:
    """Return the name of this browser, if the person with this e-mail address has signed in with it; else None."""
    return _read(request).get(_mark(email))


def keep_browser(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Set the cookie of a browser in which somebody has just signed in; browsers send it only to the sign-in page."""
    known = _read(request)
    name = known.pop(_mark(email), None) or token_urlsafe(16)
    kept = [*known.items()][1 - _PEOPLE :]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        signing.dumps([*kept, (_mark(email), name)], salt=_SALT),
        max_age=_COOKIE_SECONDS,
        path=reverse("account_login"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, str]:
    try:
        found = signing.loads(
            request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, ""), salt=_SALT, max_age=_COOKIE_SECONDS
        )
    except signing.BadSignature:
        return {}
    return {str(mark): str(name) for mark, name in found}


def _mark(email: str) -> str:
    return sha256(email.lower().encode()).hexdigest()[:16]
