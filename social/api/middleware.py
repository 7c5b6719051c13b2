"""Middleware for every request, and the shortcut with which requests without a session skip the middleware of pages.

Order in settings.MIDDLEWARE: RequestMiddleware first; CORS; LanguageMiddleware; `api_shortcut`; the middleware of pages;
ReaderMiddleware after Django's AuthenticationMiddleware; `api_shortcut_end` last.
"""

import logging
import random
import re
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from social.api import addresses, languages
from social.kernel import links, logs
from social.kernel.clock import find_zone
from social.kernel.http.limits import web_request_budget

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_access_log = logging.getLogger("social.access")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")
# Reset and confirmation links carry their secret in the path.
_SECRET_SEGMENT = re.compile(r"[^/]{31,}")


def _loggable(path: str) -> str:
    """Return a path as one line for logs in a terminal, without secrets or control characters."""
    shown = _SECRET_SEGMENT.sub("[...]", path)
    return shown if shown.isprintable() else shown.encode("unicode_escape").decode()


class RequestMiddleware:
    """Gives a request its id and the client's address, and logs it if `settings.ACCESS_LOG` is on.

    Several slashes in a path count as one, as in Mastodon's router, because clients append paths to addresses that end with a
    slash. `request.id` is the request's X-Request-Id if that is harmless, otherwise a new id; the response has it in the same
    header. X-Forwarded-Proto and X-Forwarded-For are trusted from settings.TRUSTED_PROXIES only. The log line has no query and
    no header, and therefore no token (security row 48); checks of `/health`, which come every second, are not logged.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        meta = request.META
        if "//" in request.path:
            request.path, request.path_info = map(links.with_single_slashes, (request.path, request.path_info))
        request_id = meta.get("HTTP_X_REQUEST_ID", "")
        if not request_id or not _REQUEST_ID.match(request_id):
            request_id = f"{random.getrandbits(64):016x}"
        request.id = request_id  # type: ignore[attr-defined]  # kept for this request
        address = addresses.find(meta)
        request.client_ip = address  # type: ignore[attr-defined]  # kept for this request
        # Several proxies may each append the scheme of their request; the first scheme is that of the client's request.
        forwarded = meta.get("HTTP_X_FORWARDED_PROTO", "").partition(",")[0].strip().lower()
        if forwarded == "https" and addresses.is_trusted(meta.get("REMOTE_ADDR", "")):
            meta["wsgi.url_scheme"] = forwarded
        with logs.request_context(request_id), web_request_budget():
            response = self.get_response(request)
        response.headers["X-Request-Id"] = request_id
        response.headers["X-Content-Type-Options"] = "nosniff"
        # HSTS is not sent if the proxy says that the request came over HTTP, because browsers ignore it over HTTP (RFC 6797).
        if settings.STRICT_TRANSPORT_SECURITY and forwarded != "http":
            response.headers["Strict-Transport-Security"] = settings.STRICT_TRANSPORT_SECURITY
        if request.method == "OPTIONS" and not getattr(response, "content", b"-"):
            # Django sets a Content-Type even for the answer to a preflight, which has no body; Mastodon sends none.
            response.headers.pop("Content-Type", None)
        if isinstance(response, HttpResponse):
            # Without this header the server sends the body in chunks; CommonMiddleware sets it for pages only.
            response.headers.setdefault("Content-Length", str(len(response.content)))
        if settings.ACCESS_LOG and not request.path_info.startswith("/health"):
            line = {
                "method": request.method,
                "path": _loggable(request.path_info),
                "status": response.status_code,
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
                "address": address,
                "request_id": request_id,
            }
            _access_log.info("request", extra=line)
        return response


class LanguageMiddleware:
    """Answers a request in the language of `?lang=` or Accept-Language; the user's own language is applied later."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        languages.activate(languages.of_request(request))
        try:
            return self.get_response(request)
        finally:
            languages.deactivate()


class ReaderMiddleware:
    """Shows pages in the language and the time zone of their reader.

    The language comes from `?lang=` (which is then stored in a cookie for later pages), otherwise from the cookie, otherwise
    from the signed-in user's settings. Without any of these, the language that LanguageMiddleware chose is used.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES
        chosen = languages.from_query(request)
        language = (
            chosen or languages.from_cookie(request) or (getattr(request.user, "locale", None) if signed_in else None)
        )
        if language:
            languages.activate(language)
        with timezone.override(find_zone(getattr(request.user, "time_zone", None)) if signed_in else None):
            response = self.get_response(request)
        if chosen is not None and chosen != languages.from_cookie(request):
            languages.store_in_cookie(response, chosen)
        return response


_SESSIONLESS_PATHS: Final = re.compile(
    r"/(?:api(?:/|$)|oauth/(?:token(?:/info)?|revoke|introspect|userinfo)/?$|\.well-known/|nodeinfo/|inbox/?$|users/"
    r"|actor(?:/|$)|contexts/|emojis/|media_proxy/|media/|system/|health(?:/|$)|metrics/?$)"
)


def is_sessionless(path: str) -> bool:
    """Tell whether a path is served without cookies, sessions, forms or messages; its errors are JSON."""
    return _SESSIONLESS_PATHS.match(path) is not None


class _Inner:
    get_response: GetResponse | None = None


def api_shortcut_end(get_response: GetResponse) -> GetResponse:
    """Store the handler that follows all middleware, where the shortcut ends; add no middleware."""
    _Inner.get_response = get_response
    raise MiddlewareNotUsed


def api_shortcut(get_response: GetResponse) -> GetResponse:
    """Let requests without sessions skip all middleware up to `api_shortcut_end`, which saves about a third of their cost.
    Django builds the chain of middleware from its end, so the handler that was stored last is the end of this chain.
    """
    inner = _Inner.get_response
    if inner is None:
        raise MiddlewareNotUsed
    direct = inner
    _Inner.get_response = None

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return direct(request) if is_sessionless(request.path_info) else get_response(request)

    return middleware
