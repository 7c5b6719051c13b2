"""Choice of an answer's language: the parameter `lang`, or otherwise the language of the user, of the browser or of the server.

Pages also store the chosen language in a cookie, which takes precedence over the user's language.
Source: contract, parameters section 0 ("lang").
"""

import threading
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from social.kernel.identity import default_language

COOKIE = "language"
_ACCEPT_LIMIT = 120
# Paths whose responses need no database, and must not be delayed.
_INDEPENDENT_PATHS = ("/health", "/metrics", "/static/", "/system/")


class _Thread(threading.local):
    # Stored here because asking Django for this thread's language would take as long as a small middleware.
    language: str | None = None


_thread = _Thread()


def supported(code: str) -> str | None:
    """Return the supported language for `code` (`de` for `de-AT`); None if it is not supported."""
    try:
        return translation.get_supported_language_variant(code[:35].lower())
    except LookupError:
        return None


def from_accept(header: str) -> str | None:
    """Return the first supported language of an Accept-Language header (RFC 9110 section 12.5.4). Only its first 120
    characters count, because Django caches a thousand parsed headers (security row 68).
    """
    if len(header) > _ACCEPT_LIMIT:
        header = header[:_ACCEPT_LIMIT].rpartition(",")[0]
    for code, _quality in parse_accept_lang_header(header.lower()):
        found = supported(code) if code != "*" else None
        if found is not None:
            return found
    return None


def from_query(request: Any) -> str | None:
    """Return the supported language named by `?lang=`."""
    query = request.META.get("QUERY_STRING", "")
    if "lang=" not in query:
        return None
    wanted = dict(parse_qsl(query, max_num_fields=None)).get("lang")
    return supported(wanted) if wanted else None


def is_in_query(request: Any) -> bool:
    """Tell whether `?lang=` names a supported language, which takes precedence over the user's language."""
    return from_query(request) is not None


def from_cookie(request: Any) -> str | None:
    """Return the language stored in the cookie, which the user chose on an earlier page."""
    code = request.COOKIES.get(COOKIE)
    return supported(code) if code else None


def store_in_cookie(response: Any, code: str) -> None:
    """Store the chosen language in a cookie that lasts a year."""
    response.set_cookie(
        COOKIE, code, max_age=365 * 86400, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
    )


def activate(code: str) -> None:
    """Answer in the language `code` if it is supported; LanguageMiddleware restores the server's language afterwards."""
    current = _thread.language or settings.LANGUAGE_CODE
    found = supported(code) if code != current else None
    if found is not None and found != current:
        translation.activate(found)
        _thread.language = found


def deactivate() -> None:
    if _thread.language is not None:
        translation.deactivate()
        _thread.language = None


def activate_named(lang: Any) -> None:
    """Answer in the language that a parameter `lang` names, if it is supported."""
    if isinstance(lang, str) and lang:
        activate(lang)


def of_request(request: Any) -> str:
    """Return the language of a request before its user is known."""
    accept = request.META.get("HTTP_ACCEPT_LANGUAGE", "")
    found = from_query(request) or (from_accept(accept) if accept else None)
    if found is None:
        found = settings.LANGUAGE_CODE if request.path_info.startswith(_INDEPENDENT_PATHS) else default_language()
    return found
